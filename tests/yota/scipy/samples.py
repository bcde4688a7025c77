"""Calls that reach every rule of scipy.special's ufuncs."""

# ruff: noqa: PLR0915, C901, SIM905  (tables of calls, not logic)

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy
from scipy import special

from tests.yota.rules.samples import Sample, case, cplx, inside, positive, real, unique
from yota.rules.scipy_special.table import named


def chance(*shape: int, seed: int = 0) -> Any:
    """Return numbers between 0.1 and 0.9."""
    return inside(*shape, seed=seed) * 0.44 + 0.5


# Functions of one argument, by where they are taken.
UNARY = {
    real: "cbrt exp2 exp10 expm1 exprel cosm1 sindg cosdg tandg wrightomega erf erfc erfi erfcx "
    "dawsn ndtr log_ndtr expit log_expit expi sici shichi fresnel "
    "gamma gammaln rgamma psi j0 j1 i0 i1 i0e i1e airy ber bei berp beip "
    "it2struve0 itmodstruve0",
    positive: "log1p cotdg entr exp1 spence gamma loggamma y0 y1 k0 k1 k0e k1e airye kelvin ker "
    "kei kerp keip itj0y0 iti0k0 it2j0y0",
    inside: "erfinv ellipk ellipe",
    chance: "erfcinv ndtri logit ellipkm1",
}
COMPLEX_UNARY = (
    "expm1 log1p wrightomega erf erfc erfi erfcx dawsn wofz ndtr log_ndtr exp1 expi sici shichi "
    "fresnel spence gamma rgamma loggamma airy"
).split()
# Their second derivative is refused, or differences are too coarse for it.
FIRST_ONLY = (
    "kolmogorov kolmogi smirnov smirnovi gamma-complex rgamma-complex loggamma-complex".split()
)


def elementary() -> Iterator[Sample]:
    for make, names in UNARY.items():
        for name in names.split():
            fn = getattr(special, name)
            yield case(make.__name__, fn, make(2, 3))
            yield case("scalar", fn, make())
            yield case("single", fn, make(2, 3).astype(np.float32))
    for name in COMPLEX_UNARY:
        yield case("complex", getattr(special, name), cplx(2, 3))
    s, p = special, positive(2, 3, seed=1)
    x = real(2, 3)
    yield case("", s.kolmogorov, p)
    yield case("", s.kolmogi, chance(3))
    yield case("", s.ndtri_exp, -p)
    yield case("", s.radian, real(3), real(3, seed=1), real(3, seed=2))
    yield case("", s.powm1, p, real(3))
    yield case("", s.agm, p, positive(3))
    yield case("equal", s.agm, np.array([2.0]), np.array([2.0]))
    yield case("", named("_lambertw"), cplx(3), 0, 1e-8, at=(0,))
    yield case("lower", named("_lambertw"), np.array([-0.2, -0.1]) + 0.1j, -1, 1e-8, at=(0,))
    yield case("", s.boxcox, p, real(3))
    yield case("power-0", s.boxcox, p, np.zeros(3))
    yield case("", s.boxcox1p, p, real(3))
    yield case("", s.inv_boxcox, chance(2, 3), inside(3))
    yield case("power-0", s.inv_boxcox, x, np.zeros(3))
    yield case("", s.inv_boxcox1p, chance(2, 3), inside(3))
    for fn in (s.xlogy, s.xlog1py, s.rel_entr, s.kl_div):
        yield case("", fn, p, positive(3, seed=2))
        yield case("single", fn, p.astype(np.float32), positive(3, seed=2).astype(np.float32))
    for fn in (s.xlogy, s.xlog1py):
        yield case("complex", fn, cplx(3), cplx(3, seed=1))
        yield case("zero", fn, np.zeros(2), np.array([1.0, 2.0]))
    for fn in (s.huber, s.pseudo_huber):
        yield case("", fn, positive(3), x)
    yield case("", s.owens_t, x, real(3))
    yield case("", s.voigt_profile, x, positive(3), positive(2, 1, seed=3))
    yield case("", s.expn, np.array([0, 1, 4]), p)
    yield case("far", s.erfcx, np.array([-3.0, 25.0, 29.0, 31.0, 50.0]))
    yield case("far", s.dawsn, np.array([-50.0, 25.0, 29.0, 31.0]))
    yield case("tails", s.log_ndtr, np.array([-30.0, -5.0, 0.0, 4.0]))
    yield case("negative", s.gamma, np.array([-0.5, -1.3, -2.7]))
    yield case("poles", s.rgamma, np.array([0.0, -1.0, -3.0, -2.0001, 0.5, 4.0]))
    yield case("near-1", s.spence, np.array([1.0, 1.0001, 0.6, 0.51, 0.49, 1.6]))
    yield case("near-0", s.exprel, np.array([0.0, 1e-4, -1e-3]))


def distributions() -> Iterator[Sample]:
    s, p, q = special, positive(2, 3), chance(2, 3)
    a, b = positive(3, seed=1) + 0.5, positive(2, 1, seed=2) + 0.5
    yield case("", s.poch, a, b)
    yield case("", s.binom, a + 2, b)
    yield case("", named("_zeta"), a + 1, p, at=(1,))
    for fn in (s.beta, s.betaln):
        yield case("", fn, a, b)
    for fn in (s.gammainc, s.gammaincc, s.chdtr, s.chdtrc):
        yield case("", fn, a, p, at=(1,))
    for fn in (s.gammaincinv, s.gammainccinv, s.chdtri):
        yield case("", fn, a, q, at=(1,))
    for name in "betainc betaincc betaincinv betainccinv btdtr btdtri".split():
        if hasattr(s, name):
            yield case("", getattr(s, name), a, b, q, at=(2,))
    for fn in (s.fdtr, s.fdtrc):
        yield case("", fn, a, b, p, at=(2,))
    yield case("", s.fdtri, a, b, q, at=(2,))
    for fn in (s.gdtr, s.gdtrc):
        yield case("", fn, a, b, p, at=(0, 2))
    yield case("", s.gdtria, q, b, p, at=(0, 2))
    yield case("", s.gdtrix, a, b, q, at=(0, 2))
    yield case("", s.stdtr, a, real(2, 3), at=(1,))
    yield case("normal", s.stdtr, np.inf, real(2, 3), at=(1,))
    yield case("", s.stdtrit, a, q, at=(1,))
    yield case("", s.chndtr, p, a, b, at=(0, 2))
    yield case("central", s.chndtr, p, a, np.zeros(3), at=(0,))
    yield case("", s.chndtrix, q, a, b, at=(0, 2))
    yield case("", s.chndtrinc, np.array([3.0, 4.0]), 2.0, np.array([0.3, 0.4]), at=(0, 2))
    yield case("", s.nrdtrimn, q, a, real(3), at=(0, 1, 2))
    yield case("", s.nrdtrisd, 0.1, q * 0.4 + 0.55, a + 1, at=(1, 2))
    yield case("mean", s.nrdtrisd, real(3) * 0.1, 0.7, a + 1, at=(0,))
    counts = np.array([0, 1, 3])
    for fn in (s.pdtr, s.pdtrc):
        yield case("", fn, counts, p, at=(1,))
        yield case("real", fn, counts + 0.4, p, at=(1,))
    yield case("", s.pdtri, counts, q, at=(1,))
    for fn in (s.bdtr, s.bdtrc, s.bdtri):
        yield case("", fn, counts, 5, q, at=(2,))
    for fn in (s.nbdtr, s.nbdtrc, s.nbdtri):
        yield case("", fn, counts, 5, q, at=(2,))
    yield case("", s.tklmbda, inside(2, 3), np.array([-0.5, 0.0, 0.7]), at=(0,))
    yield case("outside", s.tklmbda, np.array([-3.0, 0.2, 3.0]), 2.0, at=(0,))
    yield case("", s.smirnov, 4, chance(3), at=(1,))
    yield case("", s.smirnovi, 4, chance(3), at=(1,))


def bessels() -> Iterator[Sample]:
    s, p = special, positive(2, 3) + 0.2
    for name in "jv yv iv kv jve yve ive kve".split():
        fn = getattr(s, name)
        yield case("", fn, np.array([0, 1, 3]), p, at=(1,))
        yield case("real", fn, np.array([0.0, 0.3, 1.7]), p, at=(1,))
        yield case("complex", fn, 1.3, cplx(2, 3), at=(1,))
    for fn in (s.jv, s.iv, s.ive, s.jve):
        yield case("negative", fn, 2, real(2, 3), at=(1,))
    for name in "hankel1 hankel2 hankel1e hankel2e".split():
        yield case("", getattr(s, name), 0.7, cplx(2, 3), at=(1,))
        yield case("real", getattr(s, name), 0.7, p, at=(1,))
    for fn in (s.kn, s.yn):
        yield case("", fn, np.array([0, 1, 3]), p, at=(1,))
    for name in "_spherical_jn _spherical_yn _spherical_in _spherical_kn".split():
        yield case("", named(name), np.array([0, 1, 3]), p, at=(1,))
        yield case("complex", named(name), 2, cplx(2, 3), at=(1,))
    for fn in (s.struve, s.modstruve):
        yield case("", fn, np.array([0, 1, 3]), p, at=(1,))
        yield case("real", fn, 0.7, p, at=(1,))
    yield case("small", s.it2j0y0, np.array([0.2, 0.4, 0.6]))
    yield case("", s.besselpoly, positive(2, 3), 0.5, np.array([0.0, 1.0, 2.0]), at=(0,))


def elliptic() -> Iterator[Sample]:
    s, p = special, positive(2, 3)
    yield case("", s.elliprf, p, positive(3, seed=1), positive(3, seed=2))
    yield case("", s.elliprc, p, positive(3, seed=1))
    yield case("", s.elliprd, p, positive(3, seed=1), positive(3, seed=2))
    yield case("", s.elliprg, p, positive(3, seed=1), positive(3, seed=2))
    yield case("near", s.elliprd, 1.3, np.array([1.3, 1.3002, 2.0]), np.array([1.3, 1.3, 2.0005]))
    yield case("complex", s.elliprf, cplx(3) + 3, cplx(3, seed=1) + 3, cplx(3, seed=2) + 3)
    yield case("complex", s.elliprd, cplx(3) + 3, cplx(3, seed=1) + 3, cplx(3, seed=2) + 3)
    yield case("complex", s.elliprg, cplx(3) + 3, cplx(3, seed=1) + 3, cplx(3, seed=2) + 3)
    yield case("complex", s.elliprc, cplx(3) + 3, cplx(3, seed=1) + 3)
    for fn in (s.ellipk, s.ellipe):
        yield case("edges", fn, np.array([0.0, 1e-5, 0.97, -20.0]))
    yield case("edges", s.ellipkm1, np.array([1.0, 0.02, 3.0]))
    for fn in (s.ellipkinc, s.ellipeinc):
        yield case("", fn, real(2, 3), inside(3))
        yield case("turns", fn, np.array([-7.0, 2.0, 4.0, 9.5]), 0.4, at=(0,))
        yield case("turns-m", fn, np.array([-7.0, 2.0, 4.0]), np.array([0.4, 0.0, -2.0]))
    yield case("", s.ellipj, real(2, 3), chance(3))
    yield case("turns", s.ellipj, np.array([-5.0, 3.0, 8.0]), chance(3))


def series() -> Iterator[Sample]:
    s, x = special, inside(2, 3)
    for make in (real, cplx):
        yield case(make.__name__, s.hyp0f1, 1.3, make(2, 3), at=(1,))
        yield case(make.__name__, s.hyp1f1, 0.7, 1.3, make(2, 3), at=(2,))
        yield case(make.__name__, s.hyp2f1, 0.7, 1.1, 2.3, make(2, 3) * 0.4, at=(3,))
    yield case("", s.hyperu, 0.7, 1.3, positive(2, 3), at=(2,))
    yield case("", s.wright_bessel, 0.7, 1.3, positive(2, 3), at=(2,))
    if hasattr(s, "log_wright_bessel"):
        yield case("", s.log_wright_bessel, 0.7, 1.3, positive(2, 3), at=(2,))
    yield from polynomials(x)
    yield case("", s.lpmv, np.array([0, 1, 2]), np.array([0, 2, 4]), x, at=(2,))
    for fn in (s.pbdv, s.pbvv, s.pbwa):
        yield case("", fn, 0.7, real(2, 3), at=(1,))
    for name in "mathieu_cem mathieu_sem".split():
        yield case("", getattr(s, name), 2, 0.7, real(2, 3) * 50, at=(2,))
    for name in "mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2".split():
        yield case("", getattr(s, name), 2, 0.7, chance(2, 3), at=(2,))


def polynomials(x: Any) -> Iterator[Sample]:
    n = np.array([0, 1, 4])
    for name in (
        "legendre sh_legendre chebyt sh_chebyt chebyc chebyu sh_chebyu chebys laguerre"
    ).split():
        fn = getattr(special, f"eval_{name}")
        yield case("", fn, n, x, at=(1,))
        yield case("real", fn, 2.5, x, at=(1,)) if "sh_" not in name else case("", fn, 3, x)
        yield case("complex", fn, 3, cplx(2, 3), at=(1,))
        yield case("single", fn, 3, x.astype(np.float32), at=(1,))
    for name in ("hermite", "hermitenorm"):
        yield case("", getattr(special, f"eval_{name}"), n, x, at=(1,))
    yield case("", special.eval_gegenbauer, n, 0.7, x, at=(2,))
    yield case("", special.eval_genlaguerre, n, 0.7, x, at=(2,))
    yield case("", special.eval_jacobi, n, 0.7, 1.2, x, at=(3,))
    yield case("", special.eval_sh_jacobi, n, 2.7, 1.2, x, at=(3,))


# What older SciPys compute wrongly or warn of.
NEWER = ("btdtr", "btdtri", "hyp1f1-cplx", "sqrtm-complex", "spherical_jn-negative",
         "spherical_in-negative", "spherical_kn-negative")  # fmt: skip


def supported(samples: Iterator[Sample]) -> list[Sample]:
    """Number samples of one name; leave out what is right in newer versions only."""
    is_new = np.lib.NumpyVersion(scipy.__version__) >= "1.17.0"
    return [s for s in unique(samples) if is_new or s.name not in NEWER]


FAMILIES = (elementary, distributions, bessels, elliptic, series)
SAMPLES: list[Sample] = supported(s for family in FAMILIES for s in family())
