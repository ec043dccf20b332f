package io.regatta.core.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.model.Sharding;
import io.regatta.core.model.SparsePartition;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.UniqueElements;
import org.junit.jupiter.api.Test;

class SparseSlicesTest {

  @Property(tries = 200)
  void whatIsCutAndPutTogetherIsTheSame(@ForAll @Size(max = 60) @UniqueElements List<Long> list,
      @ForAll @IntRange(min = 1, max = 6) int shards, @ForAll @IntRange(min = 1, max = 4) int dim) {
    long[] ids = list.stream().mapToLong(Long::longValue).toArray();
    float[] values = new float[ids.length * dim];
    for (int i = 0; i < values.length; i++) {
      values[i] = i;
    }
    SparseSlices slices = new SparseSlices("t", ids, Sharding.common(shards));
    List<float[]> parts = new ArrayList<>();
    for (int s = 0; s < shards; s++) {
      int shard = s;
      assertThat(slices.ids[s]).containsExactly(
          list.stream().mapToLong(Long::longValue).filter(id -> SparsePartition.shardOf(id, shards) == shard).toArray());
      parts.add(slices.gather(values, s, dim));
      for (int i = 0; i < slices.ids[s].length; i++) {
        assertThat(parts.get(s)[i * dim]).isEqualTo(list.indexOf(slices.ids[s][i]) * dim);
      }
    }
    assertThat(slices.scatter(parts, dim)).containsExactly(values);
  }

  @Test
  void forASingleShardNothingIsCopied() {
    long[] ids = {4, 5, 6};
    float[] values = {1, 2, 3};
    SparseSlices slices = new SparseSlices("t", ids, Sharding.common(1));
    assertThat(slices.ids[0]).isSameAs(ids);
    assertThat(slices.gather(values, 0, 1)).isSameAs(values);
    assertThat(slices.scatter(List.of(values), 1)).isSameAs(values);
  }
}
