package io.regatta.core.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.DensePartition.Part;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class ShardingTest {

  /** The oracle is the partition over as many shards as there are of that kind, which are counted server by server. */
  @Property(tries = 300)
  void partsAndRowsAreDealtAsIfTheOtherShardsWereNotThere(@ForAll @IntRange(min = 1, max = 4) int servers,
      @ForAll @IntRange(min = 1, max = 3) int dense, @ForAll @IntRange(min = 1, max = 3) int sparse,
      @ForAll @Size(max = 6) List<@IntRange(min = 1, max = 200) Integer> sizes,
      @ForAll @Size(max = 50) List<Long> ids) {
    Sharding apart = new Sharding(servers * (dense + sparse), dense + sparse, sparse);
    List<Integer> denseShards = new ArrayList<>();
    List<Integer> sparseShards = new ArrayList<>();
    for (int s = 0; s < apart.shards(); s++) {
      boolean first = s % (dense + sparse) < dense;
      (first ? denseShards : sparseShards).add(s);
      assertThat(apart.holdsDense(s)).isEqualTo(first);
      assertThat(apart.holdsSparse(s)).isEqualTo(!first);
    }
    assertThat(apart.denseShards()).isEqualTo(denseShards.size());
    assertThat(apart.sparseShards()).isEqualTo(sparseShards.size());

    List<DenseVariable> model = new ArrayList<>();
    sizes.forEach(n -> model.add(new DenseVariable("v" + model.size(), List.of(n))));
    DensePartition partition = DensePartition.of(model, apart, 10);
    assertThat(partition.parts()).isEqualTo(DensePartition.of(model, denseShards.size(), 10).parts().stream()
        .map(p -> new Part(p.variable(), p.number(), p.variableOffset(), p.flatOffset(), p.size(),
            denseShards.get(p.shard()), p.shardOffset())).toList());
    assertThat(partition.shards()).isEqualTo(apart.shards());
    assertThat(sparseShards).allMatch(s -> partition.sizeOf(s) == 0);

    for (long id : ids) {
      assertThat(SparsePartition.shardOf(id, apart))
          .isEqualTo(sparseShards.get(SparsePartition.shardOf(id, sparseShards.size())));
    }
  }

  @Property(tries = 100)
  void commonShardsHoldBothWhateverThereAreOfAServer(@ForAll @IntRange(min = 1, max = 20) int shards, @ForAll long id,
      @ForAll @IntRange(max = 9) int perServer) {
    Sharding common = Sharding.common(shards);
    assertThat(new Sharding(shards, perServer, 0)).isEqualTo(common);
    assertThat(common.isApart()).isFalse();
    assertThat(common.denseShards()).isEqualTo(shards);
    assertThat(common.sparseShards()).isEqualTo(shards);
    assertThat(common.holdsDense(shards - 1) && common.holdsSparse(0)).isTrue();
    assertThat(SparsePartition.shardOf(id, common)).isEqualTo(SparsePartition.shardOf(id, shards));
  }

  @Test
  void whatLeavesNoShardForDensePartsOrIsNotOfWholeServersIsRefused() {
    for (int[] wrong : new int[][] {{2, 2, 2}, {2, 2, 3}, {2, 2, -1}, {5, 2, 1}, {2, 0, 1}}) {
      assertThatThrownBy(() -> new Sharding(wrong[0], wrong[1], wrong[2])).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("of each server's " + wrong[1] + " shards");
    }
    assertThatThrownBy(() -> DensePartition.of(List.of(), new Sharding(0, 2, 1), 1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("shards is 0");
  }
}
