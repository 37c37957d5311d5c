"""python -m benchmarks.explain: `gs.explain` on targets of high rank and degree, over the time their expansion takes alone."""

import time

import giantstep as gs


def power(rank: int, degree: int) -> str:
    """A target with every Hermite term up to that degree."""
    forms = "+".join(f"x{i}" for i in range(1, rank + 1))
    product = "*".join(f"x{i}" for i in range(1, rank + 1))
    return f"({forms})^{degree} + {product} + x1"


def main() -> None:
    for rank, degree in ((2, 12), (4, 10), (6, 10)):
        start = time.perf_counter()
        target = gs.target(power(rank, degree))
        terms = len(target.hermite)
        middle = time.perf_counter()
        found = gs.explain(target)
        end = time.perf_counter()
        ratio = (end - middle) / (middle - start)
        print(
            f"rank {rank}, degree {degree}, {terms} terms: explained in {end - middle:.2f} s, {ratio:.1f} times their expansion; "
            f"leaps {found.leaps}"
        )


if __name__ == "__main__":
    main()
