"""The papers behind the claims, the presets and the theory, and their BibTeX. No numerical package is imported here."""

from dataclasses import dataclass

__all__ = ["PAPERS", "Paper", "paper"]


@dataclass(frozen=True)
class Paper:
    """One work to cite.

    ``key`` is the word used for it in this library: the preset and the group of claims carry the same one.
    ``authors`` are full names in the order of the paper. ``venue`` is the conference, journal or kind of publication,
    ``pages`` the volume and pages where there are any, ``arxiv`` the identifier without a version.
    """

    key: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    kind: str = "inproceedings"
    pages: str = ""
    arxiv: str = ""

    @property
    def short(self) -> str:
        """The paper as running text names it: ``Moniri et al. (2024)``."""
        names = [name.split()[-1] for name in self.authors]
        who = (
            self.authors[0]
            if self.kind == "software"
            else " and ".join(names)
            if len(names) < 3
            else f"{names[0]} et al."
        )
        return f"{who} ({self.year})"

    @property
    def bibtex(self) -> str:
        """One BibTeX entry."""
        where = {"inproceedings": "booktitle", "article": "journal", "software": "note"}[self.kind]
        fields = {
            "title": f"{{{_latex(self.title)}}}",
            "author": " and ".join(_latex(name) for name in self.authors),
            "year": str(self.year),
            where: self.venue,
        }
        if self.kind == "software":
            fields["author"] = f"{{{fields['author']}}}"
        if self.pages:
            volume, _, pages = self.pages.partition(":")
            volume, _, number = volume.partition("(")
            fields |= {"volume": volume, "number": number.rstrip(")"), "pages": pages}
        if self.arxiv:
            fields |= {"eprint": self.arxiv, "archiveprefix": "arXiv"}
        lines = [f"  {name:<13} = {{{value}}}," for name, value in fields.items()]
        kind = "misc" if self.kind == "software" else self.kind
        return "\n".join([f"@{kind}{{{self.key}{self.year},", *lines, "}"])


def _latex(text: str) -> str:
    """Accented letters written as every BibTeX reads them."""
    written = {"á": r"{\'a}", "à": r"{\`a}", "ã": r"{\~a}", "é": r"{\'e}", "ğ": r"{\u{g}}"}
    return "".join(written.get(letter, letter) for letter in text)


# The last entry is this library: it is cited with everything.
PAPERS: tuple[Paper, ...] = (
    Paper(
        key="moniri",
        title="A Theory of Non-Linear Feature Learning with One Gradient Step in Two-Layer Neural Networks",
        authors=("Behrad Moniri", "Donghwan Lee", "Hamed Hassani", "Edgar Dobriban"),
        year=2024,
        venue="International Conference on Machine Learning",
        arxiv="2310.07891",
    ),
    Paper(
        key="moniri_hassani",
        title="Feature Learning in Linear-Width Two-Layer Networks: Two vs. One Step of Gradient Descent",
        authors=("Behrad Moniri", "Hamed Hassani"),
        year=2026,
        venue="arXiv preprint",
        kind="article",
        arxiv="2605.17767",
    ),
    Paper(
        key="ba",
        title="High-dimensional Asymptotics of Feature Learning: How One Gradient Step Improves the Representation",
        authors=("Jimmy Ba", "Murat A. Erdogdu", "Taiji Suzuki", "Zhichao Wang", "Denny Wu", "Greg Yang"),
        year=2022,
        venue="Advances in Neural Information Processing Systems",
        arxiv="2205.01445",
    ),
    Paper(
        key="dandi",
        title="How Two-Layer Neural Networks Learn, One (Giant) Step at a Time",
        authors=("Yatin Dandi", "Florent Krzakala", "Bruno Loureiro", "Luca Pesce", "Ludovic Stephan"),
        year=2024,
        venue="Journal of Machine Learning Research",
        kind="article",
        pages="25(349):1--65",
        arxiv="2305.18270",
    ),
    Paper(
        key="cui",
        title="Asymptotics of Feature Learning in Two-Layer Networks after One Gradient-Step",
        authors=(
            "Hugo Cui",
            "Luca Pesce",
            "Yatin Dandi",
            "Florent Krzakala",
            "Yue M. Lu",
            "Lenka Zdeborová",
            "Bruno Loureiro",
        ),
        year=2024,
        venue="International Conference on Machine Learning",
        arxiv="2402.04980",
    ),
    Paper(
        key="demir",
        title="Asymptotic Analysis of Two-Layer Neural Networks after One Gradient Step "
        "under Gaussian Mixtures Data with Structure",
        authors=("Samet Demir", "Zafer Dogan"),
        year=2025,
        venue="International Conference on Learning Representations",
        arxiv="2503.00856",
    ),
    Paper(
        key="mei_montanari",
        title="The Generalization Error of Random Features Regression: "
        "Precise Asymptotics and the Double Descent Curve",
        authors=("Song Mei", "Andrea Montanari"),
        year=2022,
        venue="Communications on Pure and Applied Mathematics",
        kind="article",
        pages="75(4):667--766",
        arxiv="1908.05355",
    ),
    Paper(
        key="hu_lu",
        title="Universality Laws for High-Dimensional Learning With Random Features",
        authors=("Hong Hu", "Yue M. Lu"),
        year=2023,
        venue="IEEE Transactions on Information Theory",
        kind="article",
        pages="69(3):1932--1964",
        arxiv="2009.07669",
    ),
    Paper(
        key="abbe",
        title="SGD Learning on Neural Networks: Leap Complexity and Saddle-to-Saddle Dynamics",
        authors=("Emmanuel Abbe", "Enric Boix-Adserà", "Theodor Misiakiewicz"),
        year=2023,
        venue="Conference on Learning Theory",
        arxiv="2302.11055",
    ),
    Paper(
        key="dandi_reuse",
        title="The Benefits of Reusing Batches for Gradient Descent in Two-Layer Networks: "
        "Breaking the Curse of Information and Leap Exponents",
        authors=(
            "Yatin Dandi",
            "Emanuele Troiani",
            "Luca Arnaboldi",
            "Luca Pesce",
            "Lenka Zdeborová",
            "Florent Krzakala",
        ),
        year=2024,
        venue="International Conference on Machine Learning",
        arxiv="2402.03220",
    ),
    Paper(
        key="dandi_spectrum",
        title="A Random Matrix Theory Perspective on the Spectrum of Learned Features "
        "and Asymptotic Generalization Capabilities",
        authors=("Yatin Dandi", "Luca Pesce", "Hugo Cui", "Florent Krzakala", "Yue M. Lu", "Bruno Loureiro"),
        year=2024,
        venue="arXiv preprint",
        kind="article",
        arxiv="2410.18938",
    ),
    Paper(
        key="damian",
        title="Computational-Statistical Gaps in Gaussian Single-Index Models",
        authors=("Alex Damian", "Loucas Pillaud-Vivien", "Jason D. Lee", "Joan Bruna"),
        year=2024,
        venue="Conference on Learning Theory",
        arxiv="2403.05529",
    ),
    Paper(
        key="damian_leap",
        title="The Generative Leap: Sharp Sample Complexity for Efficiently Learning Gaussian Multi-Index Models",
        authors=("Alex Damian", "Jason D. Lee", "Joan Bruna"),
        year=2025,
        venue="arXiv preprint",
        kind="article",
        arxiv="2506.05500",
    ),
    Paper(
        key="mei_misiakiewicz_montanari",
        title="Generalization Error of Random Features and Kernel Methods: "
        "Hypercontractivity and Kernel Matrix Concentration",
        authors=("Song Mei", "Theodor Misiakiewicz", "Andrea Montanari"),
        year=2022,
        venue="Applied and Computational Harmonic Analysis",
        kind="article",
        arxiv="2101.10588",
    ),
    Paper(
        key="benaych_georges",
        title="The Singular Values and Vectors of Low Rank Perturbations of Large Rectangular Random Matrices",
        authors=("Florent Benaych-Georges", "Raj Rao Nadakuditi"),
        year=2012,
        venue="Journal of Multivariate Analysis",
        kind="article",
        pages="111:120--135",
        arxiv="1103.2221",
    ),
    Paper(
        key="saad_solla",
        title="On-line Learning in Soft Committee Machines",
        authors=("David Saad", "Sara A. Solla"),
        year=1995,
        venue="Physical Review E",
        kind="article",
        pages="52(4):4225--4243",
    ),
    Paper(
        key="liu",
        title="On the Double Descent of Random Features Models Trained with SGD",
        authors=("Fanghui Liu", "Johan A. K. Suykens", "Volkan Cevher"),
        year=2022,
        venue="Advances in Neural Information Processing Systems",
        arxiv="2110.06910",
    ),
    Paper(
        key="nishikawa",
        title="Two-layer neural network on infinite-dimensional data: global optimization guarantee in the mean-field regime",
        authors=("Naoki Nishikawa", "Taiji Suzuki", "Atsushi Nitanda", "Denny Wu"),
        year=2022,
        venue="Advances in Neural Information Processing Systems",
    ),
    Paper(
        key="wang_ma",
        title="Early Stage Convergence and Global Convergence of Training Mildly Parameterized Neural Networks",
        authors=("Mingze Wang", "Chao Ma"),
        year=2022,
        venue="Advances in Neural Information Processing Systems",
        arxiv="2206.02139",
    ),
    Paper(
        key="lobo",
        title="How does feature learning reshape the function space?",
        authors=("João Lobo", "Bruno Loureiro", "Long Tran-Thanh", "Fanghui Liu"),
        year=2026,
        venue="arXiv preprint",
        kind="article",
        arxiv="2605.17718",
    ),
    Paper(
        key="bubeck",
        title="A Single Gradient Step Finds Adversarial Examples on Random Two-Layers Neural Networks",
        authors=("Sébastien Bubeck", "Yeshwanth Cherapanamjeri", "Gauthier Gidel", "Rémi Tachet des Combes"),
        year=2021,
        venue="Advances in Neural Information Processing Systems",
        arxiv="2104.03863",
    ),
    Paper(
        key="nguwi",
        title="Generalization Error Bounds for Two-Layer Neural Networks with Lipschitz Loss Function",
        authors=("Jiang Yu Nguwi", "Nicolas Privault"),
        year=2026,
        venue="arXiv preprint",
        kind="article",
        arxiv="2604.06281",
    ),
    Paper(
        key="giantstep",
        title="giantstep: two-layer networks after a few giant gradient steps",
        authors=("The giantstep authors",),
        year=2026,
        venue="Software, version 0.1.0",
        kind="software",
    ),
)


def paper(key: str) -> Paper:
    """The paper with this key; a wrong key is a mistake of the caller, hence ``KeyError``."""
    return {each.key: each for each in PAPERS}[key]
