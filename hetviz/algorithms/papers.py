"""References shared by several methods."""

from __future__ import annotations

from hetviz.algorithms.contract import Reference

GRESS_2014 = Reference(
    "A. Gress and I. Davidson",
    "A flexible framework for projecting heterogeneous data",
    "ACM International Conference on Information and Knowledge Management (CIKM)",
    2014,
)
MCFEE_2011 = Reference(
    "B. McFee and G. Lanckriet",
    "Learning multi-modal similarity",
    "Journal of Machine Learning Research 12, 491-523",
    2011,
)
NG_2002 = Reference(
    "A. Y. Ng, M. I. Jordan and Y. Weiss",
    "On spectral clustering: analysis and an algorithm",
    "Advances in Neural Information Processing Systems 14",
    2002,
)
QIN_2013 = Reference(
    "T. Qin and K. Rohe",
    "Regularized spectral clustering under the degree-corrected stochastic blockmodel",
    "Advances in Neural Information Processing Systems 26",
    2013,
    arxiv="1309.4111",
)
SHIMODAIRA_2016 = Reference(
    "H. Shimodaira",
    "Cross-validation of matching correlation analysis by resampling matching weights",
    "Neural Networks 75, 126-140",
    2016,
    doi="10.1016/j.neunet.2015.12.007",
)
SHI_2013 = Reference(
    "X. Shi",
    "Heterogeneous learning and its applications",
    "PhD thesis, University of Illinois at Chicago",
    2013,
)
VAN_DER_MAATEN_2008 = Reference(
    "L. van der Maaten and G. Hinton",
    "Visualizing data using t-SNE",
    "Journal of Machine Learning Research 9, 2579-2605",
    2008,
)
