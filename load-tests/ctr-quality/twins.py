"""The networks of quality.py, built of the layers of two other libraries, with the same widths and hyperparameters.

Each is a torch module from int64 [rows, features] to logits [rows]."""

import sys
import types
from collections import OrderedDict

import torch
from torch import nn


# FuxiCTR's layers import its preparation of data, which needs ray (300 MB) for more of them than are here.
for name in ("ray", "ray.data", "ray.data.datasource", "ray.data.datasource.filename_provider"):
    sys.modules.setdefault(name, types.ModuleType(name))
sys.modules["ray.data.datasource.filename_provider"].FilenameProvider = object
sys.modules["ray.data"].SaveMode = sys.modules["ray.data"].TaskPoolStrategy = object


def reset(module, settings):
    """Draws the initial values that Regatta documents, so that only the libraries' arithmetic differs."""
    bound = settings["embedding_bound"]
    for name, child in module.named_modules():
        if isinstance(child, nn.Embedding):
            if child.embedding_dim == 1:
                nn.init.zeros_(child.weight)
            else:
                nn.init.uniform_(child.weight, -bound, bound)
        elif isinstance(child, nn.Linear):
            nn.init.normal_(child.weight, 0, settings["gain"] / child.in_features ** 0.5)
            if child.bias is not None:
                nn.init.zeros_(child.bias)


class DeepCtr(nn.Module):
    """deepctr-torch's models, as they come, without their own loop."""

    def __init__(self, kind, sizes, settings, seed):
        super().__init__()
        from deepctr_torch.inputs import SparseFeat
        from deepctr_torch.models import DCN, WDL, DeepFM
        fields = [SparseFeat("f%d" % i, size, embedding_dim=settings["embedding"]) for i, size in enumerate(sizes)]
        deep = dict(dnn_hidden_units=tuple(settings["hidden"]), dnn_dropout=settings["dropout"], l2_reg_linear=0, l2_reg_embedding=0,
                    l2_reg_dnn=0, seed=seed, device="cpu")
        if kind == "wide_and_deep":
            self.model = WDL(fields, fields, **deep)
        elif kind == "deepfm":
            self.model = DeepFM(fields, fields, **deep)
        elif kind == "dcn_v2":
            self.model = DCN([], fields, cross_num=settings["cross_layers"], cross_parameterization="matrix", l2_reg_cross=0, **deep)
        elif kind == "fm":
            self.model = DeepFM(fields, fields, **{**deep, "dnn_hidden_units": ()})
        else:
            self.model = WDL(fields, fields, **{**deep, "dnn_hidden_units": ()})
        reset(self.model, settings)

    def forward(self, ids):
        p = self.model(ids.float()).squeeze(1)
        return torch.logit(p, eps=1e-7)


class Fuxi(nn.Module):
    """FuxiCTR's layers, put together as its models are."""

    def __init__(self, kind, sizes, settings, seed):
        super().__init__()
        from fuxictr.features import FeatureMap
        from fuxictr.pytorch.layers import CrossNetV2, FeatureEmbedding, InnerProductInteraction, LogisticRegression, MLP_Block
        features = FeatureMap("quality", ".")
        features.features = OrderedDict(("f%d" % i, {"type": "categorical", "source": "", "vocab_size": size})
                                        for i, size in enumerate(sizes))
        features.num_fields = len(sizes)
        self.names = list(features.features)
        width = len(sizes) * settings["embedding"]
        self.linear = LogisticRegression(features) if kind != "dcn_v2" else None
        self.vectors = FeatureEmbedding(features, settings["embedding"]) if kind != "logistic_regression" else None
        self.pairs = InnerProductInteraction(len(sizes), output="product_sum") if kind in ("fm", "deepfm") else None
        self.deep = self.cross = None
        if kind in ("wide_and_deep", "deepfm", "dcn_v2"):
            self.deep = MLP_Block(input_dim=width, output_dim=1 if kind != "dcn_v2" else None, hidden_units=list(settings["hidden"]),
                                  dropout_rates=settings["dropout"], batch_norm=False)
        if kind == "dcn_v2":
            self.cross = CrossNetV2(width, settings["cross_layers"])
            self.head = nn.Linear(width + settings["hidden"][-1], 1)
        reset(self, settings)

    def forward(self, ids):
        fields = {name: ids[:, i] for i, name in enumerate(self.names)}
        out = self.linear(fields) if self.linear is not None else 0
        vectors = self.vectors(fields) if self.vectors is not None else None
        if self.pairs is not None:
            out = out + self.pairs(vectors)
        flat = vectors.flatten(1) if vectors is not None else None
        if self.cross is not None:
            out = self.head(torch.cat([self.cross(flat), self.deep(flat)], dim=1))
        elif self.deep is not None:
            out = out + self.deep(flat)
        return out.squeeze(1)


LIBRARIES = {"deepctr-torch": DeepCtr, "FuxiCTR": Fuxi}
