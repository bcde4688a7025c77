"""The rules of scipy.special's ufuncs: importing this package fills the table.

Imported when the first of these ufuncs is traced (`yota.rules.lazily`), so that SciPy stays
optional.  Every ufunc has a rule, or stands in one of the two lists here.
"""

from yota.rules.registry import VJP, nondiff, refused
from yota.rules.scipy_special import bessels, elementary, elliptic, errors, gammas, series
from yota.rules.scipy_special.table import named

__all__ = [
    "NO_CLOSED_FORM",
    "NO_SLOPE",
    "UNRELIABLE",
    "bessels",
    "elementary",
    "elliptic",
    "errors",
    "gammas",
    "series",
]

# Constant between their jumps.
NO_SLOPE = ("gammasgn", "round")

# To differentiate them raises RuleError.
NO_CLOSED_FORM = (
    "bdtrik", "bdtrin", "btdtria", "btdtrib", "chdtriv", "chndtridf", "elliprj", "fdtridfd",
    "gdtrib", "mathieu_a", "mathieu_b", "nbdtrik", "nbdtrin", "ncfdtr", "ncfdtri", "ncfdtridfd",
    "ncfdtridfn", "ncfdtrinc", "nctdtr", "nctdtridf", "nctdtrinc", "nctdtrit", "obl_cv", "pdtrik",
    "pro_cv", "sph_harm", "stdtridf", "zetac", "_riemann_zeta", "_spherical_jn_d",
    "_spherical_yn_d", "_spherical_in_d", "_spherical_kn_d",
)  # fmt: skip
# What SciPy computes is in parts not the function, as its differences show.
UNRELIABLE = (
    "it2i0k0", "itairy", "itstruve0", "modfresnelm", "modfresnelp", "obl_ang1", "obl_ang1_cv",
    "obl_rad1", "obl_rad1_cv", "obl_rad2", "obl_rad2_cv", "pro_ang1", "pro_ang1_cv", "pro_rad1",
    "pro_rad1_cv", "pro_rad2", "pro_rad2_cv",
)  # fmt: skip

for _name in NO_SLOPE:
    nondiff(named(_name))
for _names, _why in (
    (NO_CLOSED_FORM, "its slope has no closed form"),
    (UNRELIABLE, "SciPy's own values of it are not reliable for all operands"),
):
    for _fn in filter(None, map(named, _names)):
        if _fn not in VJP:
            refused(_fn, _why)
