"""Formulas of running text as HTML."""

import pytest

from giantstep._shown.typeset import indexed, typeset


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("n^α and n^(−1/2)", "n<sup>α</sup> and n<sup>−1/2</sup>"),
        ("n^alpha, w_i^0 and ⟨a, b⟩^{ℓ−1}", "n<sup>α</sup>, w<sub>i</sub><sup>0</sup> and ⟨a, b⟩<sup>ℓ−1</sup>"),
        ("c_k, U_t, c_{k+1}, λ_max", "c<sub>k</sub>, U<sub>t</sub>, c<sub>k+1</sub>, λ<sub>max</sub>"),
        ("d_in + d_out", "d<sub>in</sub> + d<sub>out</sub>"),
        ("10^5, n^0.6 and (1 + x)^2", "10<sup>5</sup>, n<sup>0.6</sup> and (1 + x)<sup>2</sup>"),
        ("<code>n^α</code>, test_error, a file my_a.py", "<code>n^α</code>, test_error, a file my_a.py"),
        ("F₀ + Σ_{k ≤ ℓ} c_k (Xβ)^k", "F₀ + Σ<sub>k ≤ ℓ</sub> c<sub>k</sub> (Xβ)<sup>k</sup>"),
        ("E[grad f], E sigma^(k)", "E[∇f], E σ<sup>(k)</sup>"),
        ("9.3e+02 ± 2e+01%", "930 ± 20%"),
        ("at alpha = 0.37: -0.019, 2e-04, 1e+12", "at α = 0.37: −0.019, 2·10<sup>−4</sup>, 10<sup>12</sup>"),
        ("seeds 0-9, gs.power(alpha=2), s.eta, eta[0]", "seeds 0-9, gs.power(alpha=2), s.eta, eta[0]"),
        ('among "eta" and &quot;alpha&quot;', 'among "eta" and &quot;alpha&quot;'),
        ('<a href="x_y">c*_k</a>', '<a href="x_y">c*<sub>k</sub></a>'),
    ],
)
def test_indices_of_running_text_are_raised_and_lowered(text, shown):
    assert indexed(text) == shown


def test_plain_text_is_escaped():
    assert typeset("c*²_{>1} <b>") == "c*²<sub>&gt;1</sub> &lt;b&gt;"
    assert typeset("E[d^2f/(dx1 dx2)] at η~ = 4") == "E[d²f/(dx1 dx2)] at η̃ = 4"
