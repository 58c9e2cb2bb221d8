"""Tools that run in a separate process, one file each: ``call`` takes the arguments and returns JSON values."""
