package io.regatta.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class GroupAucTest {

  private record Example(long group, float probability, float label) {}

  private static GroupAuc of(List<Example> examples) {
    GroupAuc auc = new GroupAuc(1000);
    examples.forEach(e -> auc.add(e.group, e.probability, e.label));
    return auc;
  }

  /** Counts pairs, group by group. */
  private static GroupAuc.Result naive(List<Example> examples) {
    Map<Long, List<Example>> groups = new TreeMap<>();
    examples.forEach(e -> groups.computeIfAbsent(e.group, g -> new ArrayList<>()).add(e));
    double sum = 0;
    long weight = 0;
    long counted = 0;
    for (List<Example> group : groups.values()) {
      double pairs = 0;
      double right = 0;
      for (Example positive : group) {
        for (Example negative : group) {
          if (positive.label == 1 && negative.label == 0) {
            pairs++;
            right += 0.5 + 0.5 * Math.signum(positive.probability - negative.probability);
          }
        }
      }
      if (pairs > 0) {
        sum += group.size() * (right / pairs);
        weight += group.size();
        counted++;
      }
    }
    return new GroupAuc.Result(sum / weight, counted, weight);
  }

  private static List<Example> random(long seed, int examples, int groups) {
    Random random = new Random(seed);
    long[] ids = random.longs(groups).toArray();
    ids[0] = Long.MIN_VALUE;
    List<Example> all = new ArrayList<>();
    for (int i = 0; i < examples; i++) {
      float p = switch (random.nextInt(4)) {
        case 0 -> random.nextInt(3) / 2f;
        case 1 -> Float.MIN_VALUE;
        default -> random.nextFloat();
      };
      all.add(new Example(ids[random.nextInt(groups)], p, random.nextInt(2)));
    }
    return all;
  }

  @Property(tries = 300)
  void equalsTheCountOfPairs(@ForAll long seed, @ForAll @IntRange(min = 0, max = 200) int examples,
      @ForAll @IntRange(min = 1, max = 40) int groups) {
    List<Example> all = random(seed, examples, groups);
    GroupAuc.Result actual = GroupAuc.ofSums(of(all).sums());
    GroupAuc.Result expected = naive(all);
    assertThat(actual.groups()).isEqualTo(expected.groups());
    assertThat(actual.examples()).isEqualTo(expected.examples());
    if (expected.groups() == 0) {
      assertThat(actual.gauc()).isNaN();
    } else {
      assertThat(actual.gauc()).isCloseTo(expected.gauc(), within(1e-12));
    }
  }

  @Property(tries = 100)
  void partsThatExchangeTheirExamplesHaveTheBitsOfTheWhole(@ForAll long seed,
      @ForAll @IntRange(min = 1, max = 5) int parts) {
    List<Example> all = random(seed, 150, 12);
    GroupAuc[] before = new GroupAuc[parts];
    GroupAuc[] after = new GroupAuc[parts];
    for (int part = 0; part < parts; part++) {
      before[part] = new GroupAuc(1000);
      after[part] = new GroupAuc(1000);
    }
    for (int i = 0; i < all.size(); i++) {
      Example e = all.get(i);
      before[i * i % parts].add(e.group, e.probability, e.label);
    }
    for (int from = 0; from < 150; from += 50) {
      double[] places = new double[parts * 50 * GroupAuc.PARTS];
      for (int part = 0; part < parts; part++) {
        before[part].write(from, 50, places, part * 50 * GroupAuc.PARTS);
      }
      for (int part = 0; part < parts; part++) {
        int own = part;
        after[part].read(places, group -> Long.remainderUnsigned(group, parts) == own);
      }
    }
    double[] sums = new double[after[0].sums().length];
    long count = 0;
    for (GroupAuc part : after) {
      double[] more = part.sums();
      for (int i = 0; i < sums.length; i++) {
        sums[i] += more[i];
      }
      count += part.count();
    }
    assertThat(count).isEqualTo(150);
    assertThat(GroupAuc.ofSums(sums)).isEqualTo(GroupAuc.ofSums(of(all).sums()));
  }

  @Test
  void groupsWithoutBothClassesDoNotCount() {
    assertThat(GroupAuc.ofSums(of(List.of(new Example(1, 0.2f, 0), new Example(1, 0.8f, 1), new Example(2, 0.9f, 1),
        new Example(3, 0.1f, 0), new Example(4, 0.5f, 1), new Example(4, 0.5f, 0), new Example(4, 0.6f, 0),
        new Example(4, 0.4f, 0))).sums()))
        .isEqualTo(new GroupAuc.Result((2 * 1 + 4 * 0.5) / 6, 2, 6));
  }

  @Test
  void countsButDoesNotKeepWhatExceedsItsLimit() {
    GroupAuc auc = new GroupAuc(2);
    auc.add(1, 0.1f, 0);
    auc.add(1, 0.9f, 1);
    auc.add(1, 0.95f, 0);
    assertThat(auc.count()).isEqualTo(3);
    assertThat(GroupAuc.ofSums(auc.sums()).examples()).isEqualTo(2);
  }

  @Test
  void refusesWhatIsNoPrediction() {
    GroupAuc auc = new GroupAuc(2);
    assertThatThrownBy(() -> auc.add(1, Float.NaN, 1)).isInstanceOf(InvalidInput.class).hasMessageContaining("NaN");
    assertThatThrownBy(() -> auc.add(1, 1.1f, 1)).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> auc.add(1, 0.5f, 2)).isInstanceOf(InvalidInput.class).hasMessageContaining("0 or 1");
    assertThatThrownBy(() -> new GroupAuc(0)).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> GroupAuc.ofSums(new double[3])).isInstanceOf(InvalidInput.class);
    auc.add(1, 1.000001f, 1);
    auc.add(1, -0.000001f, 0);
    double[] twice = new double[2 * GroupAuc.PARTS];
    auc.write(0, 1, twice, 0);
    auc.write(1, 1, twice, 2);
    twice[1] += twice[3];
    assertThatThrownBy(() -> auc.read(twice, group -> true)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("one place");
  }
}
