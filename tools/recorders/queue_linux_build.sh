#!/bin/sh
# Build the Linux that queue_linux.py and kernel_uml.py record: Linux as a process (user mode) with simulated time.
# usage: [LINUX=6.1] [HZ=1000] [BBR3=PATCH] [PRAGUE=FILE] queue_linux_build.sh FOLDER [TREE WITH sch_dualpi2.c]
#
# Needs Debian's packages linux-source-6.1, flex, bison, bc, gcc and make, and about 15 minutes of one core. Debian's
# own package user-mode-linux is the same kernel without CONFIG_UML_TIME_TRAVEL_SUPPORT: it runs in real time only.
# Only HZ is changed: 1000 instead of 100, the value of a user-mode Linux, so that timers in ticks (PIE's update every
# 15 ms, delayed ACKs) are as fine as on other machines.
#
# BBR3 is Google's version 3 of BBR as a patch, and replaces the kernel's BBR: 6.12/0002-bbr3.patch of
# CachyOS/kernel-patches at b3d68416, with LINUX=6.12 and HZ=250. PRAGUE is the L4S team's net/ipv4/tcp_prague.c:
# minuscat/l4steam-6.1.y at 2d280705, version 0.7. It needs BBR3, whose hook for the size of bursts it uses. Instead of
# accurate ECN feedback, which this kernel has not, it counts the marks that a DCTCP receiver reports.
#
# The optional second argument is a git tree with the L4S team's DualPI2 for Linux 5.4 (net/sched/sch_dualpi2.c of 2019,
# draft 8 of what became RFC 9332): dejeneboru/mdtcp-mprague at 99e8cd559 was used. It is built in with three updated
# names, because 6.1 has none.
#
# floating.so, which queue_linux.py loads before the C library, supports processors with a larger floating-point state
# than a user-mode Linux of that time reserves (AMX). It gives the host kernel the rest of that state as zeros.
set -eu
linux=${LINUX:-6.1}
folder=$1
dualpi2=${2:-}
mkdir -p "$folder"
cd "$folder"
[ -d "linux-source-$linux" ] || tar xf "/usr/src/linux-source-$linux.tar.xz"
cat > floating.c <<'C'
#define _GNU_SOURCE
#include <cpuid.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
static char whole[1 << 16];
long ptrace(enum __ptrace_request request, ...) {
  static long (*real)(enum __ptrace_request, ...);
  va_list rest;
  va_start(rest, request);
  int pid = va_arg(rest, int);
  void *address = va_arg(rest, void *), *data = va_arg(rest, void *);
  va_end(rest);
  if (!real) real = dlsym(RTLD_NEXT, "ptrace");
  if (request == PTRACE_SETREGSET && address == (void *)0x202) {
    struct iovec *given = data, all = {whole, 0};
    static unsigned a, size, c, d;
    if (!size) __cpuid_count(13, 0, a, size, c, d);
    if (given->iov_len < size && size < sizeof whole) {
      memset(whole, 0, size);
      memcpy(whole, given->iov_base, given->iov_len);
      *(unsigned long *)(whole + 512) &= 0x3ff;
      all.iov_len = size;
      return real(request, pid, address, &all);
    }
  }
  return real(request, pid, address, data);
}
C
cc -O2 -shared -fPIC -o floating.so floating.c -ldl
cd "linux-source-$linux"
sed -i "/^config HZ/,/default/ s/default 100\$/default ${HZ:-1000}/" arch/um/Kconfig
if [ -n "${BBR3:-}" ] && ! grep -q bbr_tso_segs_generic net/ipv4/tcp_bbr.c; then
  patch -s -p1 < "$BBR3"
fi
if [ -n "${PRAGUE:-}" ] && [ ! -e net/ipv4/tcp_prague.c ]; then
  sed -e '/mss_cache_set_by_ca/d; /tcp_sync_mss/d; /TCP_ECN_ECT_1/d; s/tp->received_ce/0/; s/rs->ece_delta/marks/g' \
    -e 's/tcp_ecn_mode_any(tp)/(tp->ecn_flags \& TCP_ECN_OK)/g' \
    -e 's/TCP_CONG_NEEDS_ACCECN |//; s/TCP_CONG_NO_FALLBACK_RFC3168 | //' \
    -e 's/prague_cong_control(struct sock \*sk, const/prague_cong_control(struct sock *sk, u32 ack, int flag, const/' \
    -e 's/^\ts64 acked;$/&\n\tu32 marks = tp->delivered_ce - ca->seen_ce;/' \
    -e 's/^\tacked = rs->acked_sacked;/\tca->seen_ce = tp->delivered_ce;\n&/' \
    -e 's/^\tu32 next_seq;.*/&\n\tu32 seen_ce;/; s/^\tca->round = 0;/\tca->seen_ce = tp->delivered_ce;\n&/' \
    -e '/^static size_t prague_get_info/,/^}/ s/^\tif (ext.*/\treturn 0;\n}\n#if 0/; /^static void prague_release/ s/^/#endif\n/' \
    "$PRAGUE" > net/ipv4/tcp_prague.c
  echo 'obj-y += tcp_prague.o' >> net/ipv4/Makefile
fi
if [ -n "$dualpi2" ] && [ ! -e net/sched/sch_dualpi2.c ]; then
  git -C "$dualpi2" show HEAD:net/sched/sch_dualpi2.c > net/sched/sch_dualpi2.c
  git -C "$dualpi2" show HEAD:include/uapi/linux/pkt_sched.h | sed -n '/^\/\* DUALPI2/,/^#endif/p' | sed '$d' \
    > net/sched/dualpi2_uapi.h
  sed -i 's|#include <net/pkt_cls.h>|&\n#include "dualpi2_uapi.h"|; s/prandom_u32()/get_random_u32()/
    s/tcf_classify(skb, fl,/tcf_classify(skb, NULL, fl,/; s/tc_skb_protocol(skb)/skb_protocol(skb, true)/' \
    net/sched/sch_dualpi2.c
  echo 'obj-y += sch_dualpi2.o' >> net/sched/Makefile
fi
on="64BIT SLUB CC_OPTIMIZE_FOR_PERFORMANCE
UML_TIME_TRAVEL_SUPPORT PRINTK BINFMT_ELF BINFMT_SCRIPT NO_HZ_IDLE HIGH_RES_TIMERS MULTIUSER POSIX_TIMERS
FUTEX EPOLL SIGNALFD TIMERFD EVENTFD SHMEM AIO ADVISE_SYSCALLS MEMBARRIER FHANDLE SYSVIPC FILE_LOCKING NAMESPACES
NET_NS TTY UNIX98_PTYS SSL STDERR_CONSOLE NULL_CHAN PROC_FS PROC_SYSCTL SYSFS TMPFS DEVTMPFS HOSTFS NET UNIX PACKET
INET NET_CORE NETDEVICES VETH TUN INET_DIAG INET_TCP_DIAG TCP_CONG_ADVANCED TCP_CONG_CUBIC TCP_CONG_DCTCP TCP_CONG_BBR
NET_SCHED NET_SCH_PRIO NET_SCH_RED NET_SCH_TBF NET_SCH_NETEM NET_SCH_DRR NET_SCH_CODEL NET_SCH_FQ_CODEL NET_SCH_FQ
NET_SCH_PIE NET_SCH_FQ_PIE NET_SCH_FIFO NET_CLS NET_CLS_U32 NET_CLS_FW NET_CLS_MATCHALL NET_CLS_ACT NET_ACT_SKBEDIT"
off="SLOB BLOCK STATIC_LINK IPV6 NETFILTER WIRELESS DEBUG_KERNEL MODULES PTP_1588_CLOCK TCP_CONG_WESTWOOD TCP_CONG_HTCP
TCP_CONG_BIC"
{
  for name in $on; do echo "CONFIG_$name=y"; done
  for name in $off; do echo "CONFIG_$name=n"; done
} > ../fragment
export ARCH=um
make -s tinyconfig
scripts/kconfig/merge_config.sh -m .config ../fragment > /dev/null
make -s olddefconfig
exec nice -n 19 make -s linux
