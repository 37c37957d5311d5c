"""Symmetric networks after a giant step: the two neurons of a pair start from one row and are not independent."""
