"""The accelerator: giantstep beside a plain script, row by row, as JSON and as a table."""
