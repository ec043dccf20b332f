package io.regatta.fleet;

import io.regatta.core.optim.Hyperparameter.Range;
import io.regatta.core.optim.Optimizer.Slot;
import io.regatta.core.optim.OptimizerRegistry;
import io.regatta.core.optim.OptimizerType;
import java.io.IOException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** docs/optimizers.md lists every optimizer with its rule, slots and hyperparameters. */
class OptimizersPageTest {

  private static final GeneratedPage PAGE = new GeneratedPage("docs/optimizers.md");

  @Test
  void lists_every_optimizer() throws IOException {
    StringBuilder table = new StringBuilder("| Kind | Rule | Slots | Norms of | Source |\n|---|---|---|---|---|\n");
    for (OptimizerType type : OptimizerRegistry.all()) {
      String slots = type.defaults().slots().stream().map(Slot::name).collect(Collectors.joining(", "));
      table.append("| `").append(type.name()).append("` | ").append(cell(type.rule().formula())).append(" | ")
          .append(slots.isEmpty() ? "none" : slots).append(" | ")
          .append(type.needsWholeTensors() ? "the whole tensor" : "nothing").append(" | ")
          .append(cell(type.rule().source())).append(" |\n");
    }
    PAGE.holds("optimizers", table.toString());
  }

  @Test
  void lists_every_hyperparameter() throws IOException {
    StringBuilder table = new StringBuilder("| Kind | Key | Type | Default | Range | Meaning |\n|---|---|---|---|---|---|\n");
    for (OptimizerType type : OptimizerRegistry.all()) {
      for (OptimizerType.Parameter p : type.parameters()) {
        table.append("| `").append(type.name()).append("` | `").append(p.key()).append("` | ")
            .append(p.isFlag() ? "boolean" : "double").append(" | `").append(p.defaultText()).append("` | ")
            .append(p.isFlag() ? "true or false" : p.range().words() + (p.range() == Range.POSITIVE ? "; in files, 0: the default" : ""))
            .append(" | ").append(cell(p.doc())).append(" |\n");
      }
    }
    PAGE.holds("hyperparameters", table.toString());
  }

  private static String cell(String text) {
    return text.replace("|", "\\|");
  }
}
