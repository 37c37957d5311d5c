"""What depends on the machine: devices, threads, memory, random streams, arrays, and records as plain data."""
