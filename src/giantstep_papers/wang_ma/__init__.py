"""Wang, Ma (arXiv 2206.02139).

Early stage convergence and global convergence of mildly parameterized networks.
"""
