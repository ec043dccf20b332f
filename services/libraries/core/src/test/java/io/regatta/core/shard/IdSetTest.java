package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.shard.internal.parameters.IdSet;
import java.util.LinkedHashSet;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class IdSetTest {

  @Property(tries = 50)
  void isASet(@ForAll boolean many, @ForAll @IntRange(min = 1, max = 3000) int ids, @ForAll Random random) {
    IdSet set = many ? IdSet.forMany() : IdSet.forFew();
    for (int use = 0; use < 2; use++) {
      Set<Long> expected = new LinkedHashSet<>();
      for (int i = 0; i < ids; i++) {
        long id = random.nextInt(ids) - ids / 2L;
        assertThat(set.add(id)).isEqualTo(expected.add(id));
      }
      set.clear();
    }
  }
}
