package io.regatta.training.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.EasyTrain;
import ai.djl.training.ParameterStore;
import ai.djl.training.dataset.ArrayDataset;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.Ftrl;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.training.config.Strategy;
import io.regatta.training.optimizer.RegattaOptimizer;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.rank.Toy;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.session.LocalSession;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Settings of single tables in a job file and in a program, and the counts that go with the gradients. */
class TableSettingsTest {

  private static final int BATCH = 4;

  @BeforeAll
  static void engine() {
    Engines.start("auto", 1);
  }

  private static JsonObject tables(JsonObject wide) {
    return new JsonObject().put("tables", new JsonObject().put("wide", wide));
  }

  private static SlotEmbeddings slots(LocalSession session) {
    return new SlotEmbeddings(List.of(
        DistributedEmbedding.builder().setTable("wide").setDim(1).optJob(session.job()).optColumns(0, 2).optInputIndex(0)
            .build(),
        DistributedEmbedding.builder().setTable("deep").setDim(3).optColumns(1).optInputIndex(0)
            .optOptimizer(OptimizerSpec.of("adam", 0.1)).build()));
  }

  private interface Use {
    void of(FleetTrainer trainer) throws Exception;
  }

  private static void train(JsonObject keys, Use use) throws Exception {
    try (LocalSession session = new LocalSession(Toy.job(keys)); Model model = Model.newInstance("slots")) {
      model.setBlock(new SequentialBlock().add(slots(session)).add(Linear.builder().setUnits(1).build()));
      try (FleetTrainer trainer = new FleetTrainer(model, Toy.config(RegattaOptimizer.of("sgd", 0.1)), Strategy.sync(),
          ReplicaContext.single(session))) {
        trainer.initialize(new Shape(BATCH, 3));
        use.of(trainer);
      }
    }
  }

  @Test
  void theJobFileGoesBeforeTheProgramTableByTable() throws Exception {
    JsonObject wide = new JsonObject().put("dim", 2)
        .put("optimizer", new JsonObject().put("kind", "ftrl").put("l1", 0.5))
        .put("initializer", new JsonObject().put("kind", "constant").put("a", 3))
        .put("life", new JsonObject().put("statistics", true).put("admit_count", 4));
    train(tables(wide), trainer -> {
      SparseTableSpec t = trainer.tables().get(0);
      assertThat(t.dim()).isEqualTo(2);
      assertThat(t.optimizer().optimizer()).isEqualTo(new Ftrl(1, 0.5f, 0, 0));
      assertThat(t.initializer()).isEqualTo(new InitializerSpec(InitializerSpec.Kind.CONSTANT, 3, 0));
      assertThat(t.life()).isEqualTo(TableLife.counted().withAdmitCount(4));
      assertThat(trainer.tables().get(1).optimizer()).isEqualTo(OptimizerSpec.of("adam", 0.1));
      assertThat(trainer.tables().get(1).life()).isEqualTo(TableLife.NONE);
    });
  }

  @Test
  void slipsInTheSectionAreNamed() {
    assertThatThrownBy(() -> train(new JsonObject().put("tables", new JsonObject().put("wid", new JsonObject())),
        trainer -> { })).isInstanceOf(InvalidInput.class).hasMessageContaining("'tables.wid'")
        .hasMessageContaining("nearest known key is 'tables.wide'");
    assertThatThrownBy(() -> Toy.job(tables(new JsonObject().put("live", new JsonObject()))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("tables.wide.live").hasMessageContaining("life");
    assertThatThrownBy(() -> Toy.job(tables(new JsonObject().put("life", new JsonObject().put("shrink_score", 1)))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("shrink_score");
    JsonObject deep = new JsonObject().put("tables", new JsonObject().put("deep", new JsonObject().put("dim", 5)));
    assertThatThrownBy(() -> train(deep, trainer -> { })).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("tables.deep.dim is 5").hasMessageContaining("optJob");
  }

  @Test
  void slotsOfDifferentWidthsAreJoinedBlockAfterBlock() {
    SlotEmbeddings slots = new SlotEmbeddings(List.of(
        DistributedEmbedding.builder().setTable("a").setDim(1).optColumns(2, 0).build(),
        DistributedEmbedding.builder().setTable("b").setDim(2).optColumns(1).build()));
    slots.getChildren().values().forEach(block -> ((DistributedEmbedding) block).attach((table, dim, ids, training) -> {
      float[] rows = new float[ids.length * dim];
      for (int i = 0; i < rows.length; i++) {
        rows[i] = 10 * ids[i / dim] + i % dim;
      }
      return rows;
    }));
    try (NDManager manager = NDManager.newBaseManager()) {
      NDArray ids = manager.create(new long[] {1, 2, 3, 4, 5, 6}, new Shape(2, 3));
      NDArray out = slots.forward(new ParameterStore(manager, false), new NDList(ids), false).singletonOrThrow();
      assertThat(out.getShape()).isEqualTo(new Shape(2, 4));
      assertThat(out.toFloatArray()).containsExactly(30, 10, 20, 21, 60, 40, 50, 51);
      assertThat(slots.width()).isEqualTo(4);
    }
  }

  /** Shows and clicks, computed directly, decide which rows a shrink by score leaves. */
  @Test
  void showsAndClicksGoWithTheGradients() throws Exception {
    int batches = 3;
    long[] ids = new long[batches * BATCH * 3];
    float[] labels = new float[batches * BATCH];
    Map<Long, Double> score = new HashMap<>();
    for (int e = 0; e < labels.length; e++) {
      labels[e] = e % 3 == 0 ? 1 : 0;
      for (int s = 0; s < 3; s++) {
        ids[3 * e + s] = (e * (s + 1)) % 5;
        if (s != 1) { // the slots of the table wide
          score.merge(ids[3 * e + s], labels[e] > 0 ? 1.0 : 0.25, Double::sum);
        }
      }
    }
    double threshold = 2.4;
    List<Long> left = score.entrySet().stream().filter(s -> s.getValue() >= threshold).map(Map.Entry::getKey).toList();
    assertThat(left).hasSizeBetween(1, score.size() - 1);
    JsonObject life = new JsonObject().put("statistics", true).put("decay", 1).put("nonclick_coefficient", 0.25)
        .put("shrink_score", threshold);
    train(tables(new JsonObject().put("life", life)), trainer -> {
      NDManager manager = trainer.getManager();
      EasyTrain.fit(trainer, 1, new ArrayDataset.Builder()
          .setData(manager.create(ids, new Shape(labels.length, 3)))
          .optLabels(manager.create(labels, new Shape(labels.length, 1))).setSampling(BATCH, false).build(), null);
      Shrunk shrunk = trainer.client().shrink(1, true).join();
      assertThat(shrunk.byScore()).isEqualTo(score.size() - left.size());
      List<Long> found = new ArrayList<>();
      trainer.client().export("wide", slice -> {
        for (long id : slice.ids()) {
          found.add(id);
        }
        return CompletableFuture.completedFuture(null);
      }).join();
      assertThat(found).containsExactlyInAnyOrderElementsOf(left);
    });
  }
}
