#!/bin/sh
# Build the kernel for `optcp emulate --kernel`: Linux as a program, whose clock stands still while it computes.
# usage: tools/uml/build.sh FOLDER
#
# The source is Debian's package linux-source-6.1, from /usr/src if it is installed, else from apt-get download. Further
# packages: bc, bison, flex, gcc, make, patch and xz-utils. Root is not needed. It takes about 10 minutes of two cores
# and 2 GB. The last line of the output is the path of the kernel.
set -eu
version=6.1
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
source=/usr/src/linux-source-$version.tar.xz
if [ ! -e "$source" ]; then
  [ -d package ] || { apt-get download "linux-source-$version" && dpkg-deb -x "linux-source-${version}"_*.deb package; }
  source=package$source
fi
if [ ! -d "linux-source-$version" ]; then
  mkdir -p unpacked
  tar xf "$source" -C unpacked
  patch -s -p1 -d "unpacked/linux-source-$version" < "$here/repeatable.patch"
  mv "unpacked/linux-source-$version" .
fi
cd "linux-source-$version"
# All that a kernel knows about its build, so that equal sources make equal kernels.
export ARCH=um KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' KBUILD_BUILD_VERSION=1
export KBUILD_BUILD_USER=optcp KBUILD_BUILD_HOST=optcp
KCONFIG_ALLCONFIG=$here/config make -s allnoconfig
nice -n 10 make -s -j"$(nproc)" linux
echo "$PWD/linux"
