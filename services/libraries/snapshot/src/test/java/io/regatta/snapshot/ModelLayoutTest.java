package io.regatta.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.Sharding;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The refusal of a snapshot of another model with many variables: it names the first difference, not all. */
class ModelLayoutTest {

  private static ModelLayout layout(int hidden, String optimizer, TableLayout... tables) {
    List<DenseVariable> dense = new ArrayList<>();
    for (int layer = 0; layer < 9; layer++) {
      dense.add(new DenseVariable("w" + layer, List.of(5, layer < 2 ? hidden : 3)));
    }
    return new ModelLayout("0", 7, Sharding.common(2), 4, optimizer, 1, dense, List.of(tables));
  }

  private static TableLayout table(String name, int dim, String optimizer) {
    return new TableLayout(name, dim, optimizer, 1, 2);
  }

  private final ModelLayout saved = layout(4, "adam", table("emb", 8, "adagrad"));

  @Test
  void the_first_variable_that_differs_is_named_and_the_others_counted() {
    assertThat(saved.difference(layout(4, "adam", table("emb", 8, "adagrad")), true)).isNull();
    assertThat(saved.difference(layout(6, "adam", table("emb", 8, "adagrad")), false))
        .isEqualTo("variable w0 with shape [5, 4] where the job has shape [5, 6] (and 1 more that differ)");
    ModelLayout more = new ModelLayout("0", 7, Sharding.common(2), 4, "adam", 1,
        List.of(new DenseVariable("b", List.of())), List.of());
    assertThat(saved.difference(more, false)).isEqualTo("no variable b, which the job has with shape [] (and 9 more that differ)");
    assertThat(more.difference(saved, false)).contains("no variable w0, which the job has with shape [5, 4]");
    List<DenseVariable> turned = new ArrayList<>(saved.dense());
    Collections.reverse(turned);
    assertThat(saved.difference(new ModelLayout("0", 7, Sharding.common(2), 4, "adam", 1, turned, saved.tables()), false))
        .isEqualTo("its variables in another order");
  }

  @Test
  void optimizers_and_tables_of_one_side_matter_only_to_a_run_that_goes_on() {
    ModelLayout job = layout(4, "sgd", table("emb", 8, "sgd"), table("new", 2, "sgd"));
    assertThat(saved.difference(job, false)).isNull();
    assertThat(saved.difference(job, true)).isEqualTo("dense optimizer adam where the job has sgd");
    assertThat(saved.difference(layout(4, "adam", table("emb", 8, "sgd")), true)).isEqualTo(
        "table emb with rows of 8 values, adagrad with 1 slots, 2 statistics where the job has rows of 8 values, sgd with 1 slots, "
            + "2 statistics");
    assertThat(saved.difference(layout(4, "adam", table("emb", 8, "adagrad"), table("new", 2, "sgd")), true))
        .startsWith("no table new, which the job has with rows of 2 values");
    assertThat(saved.difference(layout(4, "adam", table("emb", 16, "adagrad")), false))
        .isEqualTo("table emb with rows of 8 values where the job has rows of 16 values");
  }
}
