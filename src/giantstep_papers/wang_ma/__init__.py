"""Wang, Ma: Early stage convergence and global convergence of mildly parameterized networks (arXiv 2206.02139)."""
