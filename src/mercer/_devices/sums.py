"""How many rows float32 products sum on a device before float64 takes over."""

#: Digits are lost with the root of this number. On an H200 the coefficients of a million rows are
#: 2.4e-5 from those of the host with 4,096 rows, 1.4e-5 with 1,024; of fewer than 256 rows the
#: additions would take longer than the products.
ROWS_OF_A_SUM = 256
#: The same where the factors are rounded to fewer digits anyway.
ROUNDED_ROWS = 4096
