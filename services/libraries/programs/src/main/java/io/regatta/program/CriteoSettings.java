package io.regatta.program;

import io.regatta.node.settings.Inline;
import io.regatta.node.settings.Setting;
import io.regatta.training.config.EvaluationConfig;
import java.util.List;

/** The {@code settings} section of {@link WideAndDeep}, {@link CtrDnn} and {@link DeepFm}. */
public record CriteoSettings(
    @Setting(value = "10", doc = "Values per id in the deep part.") int embedding,
    @Setting(value = "0.05", doc = "Embeddings start uniform in plus or minus this.") double embeddingBound,
    @Setting(value = "400,400,400", doc = "Widths of the relu layers.") List<Integer> hidden,
    @Setting(value = "1", doc = "Layers start Normal(0, gain / sqrt(fan in)); 1.414 suits relu layers.") double gain,
    @Setting(value = "1000001", doc = "Number of sparse ids that values are hashed to.") long idSpace,
    @Setting(value = "200000", unit = "rows", doc = "Training rows to generate if there are no data.") int trainRows,
    @Setting(value = "40000", unit = "rows", doc = "Test rows to generate if there are no data.") int testRows,
    @Setting(value = "4", doc = "Training files to generate if there are no data.") int trainFiles,
    @Inline EvaluationConfig evaluation) {}
