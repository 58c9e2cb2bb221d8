"""What every part uses: arguments, files, stored results, words."""
