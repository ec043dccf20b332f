package io.regatta.core.feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.Feature.Missing;
import io.regatta.core.feature.Feature.Pooling;
import io.regatta.core.feature.NumberFeature.Scale;
import io.regatta.core.feature.NumberFeature.Transform;
import io.regatta.core.feature.SequenceFeature.Keep;
import io.regatta.core.feature.TimeFeature.Format;
import io.regatta.core.feature.TimeFeature.Part;
import io.regatta.core.hash.Mix64;
import io.regatta.core.hash.XxHash64;
import io.regatta.core.reduce.DistinctIds;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Oracles: ids of Python's {@code xxhash} (ids.py), and numbers that are worked out here. */
class FeatureTransformTest {

  private static final long NONE = DistinctIds.PADDING;
  private static final double ANY = Double.POSITIVE_INFINITY;

  /** A transformed row. */
  private record Result(float[] dense, long[] ids, float[] values, BadValue bad) {}

  private static Result apply(FeatureTransform transform, Object... values) {
    InputRow row = new InputRow(values.length);
    for (int i = 0; i < values.length; i++) {
      set(row, i, values[i]);
    }
    int columns = transform.widths().stream().mapToInt(Integer::intValue).sum();
    float[] dense = new float[transform.dense() + 1];
    long[] ids = new long[columns + 1];
    float[] factors = transform.valued() ? new float[columns + 1] : null;
    Arrays.fill(dense, 77);
    Arrays.fill(ids, 77);
    BadValue bad = transform.apply(row, dense, 1, ids, factors, 1);
    assertThat(dense[0]).isEqualTo(77f);
    assertThat(ids[0]).isEqualTo(77);
    return new Result(Arrays.copyOfRange(dense, 1, dense.length), Arrays.copyOfRange(ids, 1, ids.length),
        factors == null ? null : Arrays.copyOfRange(factors, 1, factors.length), bad);
  }

  @SuppressWarnings("unchecked") // lists of strings alone
  private static void set(InputRow row, int column, Object value) {
    if (value instanceof String text) {
      byte[] bytes = utf8("<" + text + ">");
      row.text(column, bytes, 1, bytes.length - 1);
    } else if (value instanceof Long whole) {
      row.whole(column, whole);
    } else if (value instanceof Double number) {
      row.number(column, number);
    } else if (value instanceof List<?> list) {
      row.texts(column, ((List<String>) list).stream().map(FeatureTransformTest::utf8).toList());
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static long hash(String text, long seed) {
    return XxHash64.of(utf8(text), 0, utf8(text).length, seed);
  }

  private static long id(String namespace, String text) {
    return hash(text, hash(namespace, 0));
  }

  private static FeatureTransform of(Feature... features) {
    return FeatureTransform.of(List.of(features), FeatureStatistics.NONE);
  }

  private static IdFeature idFeature(String name, Missing missing) {
    return new IdFeature(name, name, missing, IdCoding.of(name));
  }

  private static NumberFeature number(Missing missing, double fill, Transform transform, double power, Scale scale) {
    return new NumberFeature("n", "n", missing, fill, -ANY, ANY, transform, power, scale);
  }

  private static FeatureStatistics numbers(String name, double mean, double deviation, double min, double max) {
    return new FeatureStatistics(Map.of(name, new NumberStatistics(mean, deviation, min, max)), Map.of(), Map.of());
  }

  @Test
  void ids_are_those_of_python() throws IOException {
    try (InputStream in = FeatureTransformTest.class.getResourceAsStream("ids.tsv")) {
      List<String> lines = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
      assertThat(lines).hasSizeGreaterThan(400);
      for (String line : lines) {
        String[] vector = line.split("\t");
        String namespace = vector[0];
        FeatureTransform transform = of(new IdFeature("f", "f", Missing.OWN,
            new IdCoding(namespace, 1, Long.parseLong(vector[2]), List.of(), false)));
        assertThat(apply(transform, vector[1]).ids()).as(line).containsExactly(Long.parseLong(vector[3]));
        assertThat(apply(transform, " ").ids()).containsExactly(Long.parseLong(vector[4]));
        assertThat(transform.emptyIds()).containsExactly(Long.parseLong(vector[4]));
        FeatureTransform known = of(new IdFeature("f", "f", Missing.OWN,
            new IdCoding(namespace, 1, 0, List.of("known", vector[1]), false)));
        assertThat(apply(known, "other").ids()).containsExactly(Long.parseLong(vector[5]));
        assertThat(apply(known, vector[1]).ids()).containsExactly(id(namespace, vector[1]));
      }
    }
  }

  @Test
  void a_missing_id_has_its_own_id_or_none_or_makes_the_row_bad() {
    assertThat(apply(of(idFeature("c", Missing.OWN)), "").ids()).containsExactly(hash("c", 1));
    assertThat(apply(of(idFeature("c", Missing.NONE)), (Object) null).ids()).containsExactly(NONE);
    assertThat(apply(of(idFeature("c", Missing.REFUSE)), " \t").bad()).isEqualTo(new BadValue("c", "a value", ""));
  }

  @Test
  void a_whole_number_is_its_decimal_text_and_another_number_is_bad() {
    FeatureTransform transform = of(idFeature("c", Missing.OWN));
    assertThat(apply(transform, -7L).ids()).containsExactly(id("c", "-7"));
    assertThat(apply(transform, " 007 ").ids()).containsExactly(id("c", "007"));
    assertThat(apply(transform, 1.5).bad()).isEqualTo(new BadValue("c", "a whole number or text", "1.5"));
    assertThat(apply(transform, List.of("a", "b")).bad()).isEqualTo(new BadValue("c", "a whole number or text", "[a, b]"));
  }

  @ParameterizedTest
  @CsvSource({"007,7", "+7,7", "-0,0", "000,0", "-007,-7", "99999999999999999999999,99999999999999999999999"})
  void whole_numbers_in_text_have_one_form(String text, String form) {
    FeatureTransform transform = of(new IdFeature("c", "c", Missing.OWN, new IdCoding("c", 1, 0, List.of(), true)));
    assertThat(apply(transform, text).ids()).containsExactly(id("c", form));
    assertThat(apply(transform, text + "x").bad()).isEqualTo(new BadValue("c", "a whole number", text + "x"));
  }

  @Test
  void ids_outside_of_the_counted_vocabulary_are_rare() {
    IdCoding coding = new IdCoding("item", 3, 0, List.of(), false);
    List<Feature> features = List.of(new IdFeature("a", "a", Missing.OWN, coding), new IdFeature("b", "b", Missing.OWN, coding));
    Vocabulary vocabulary = new Vocabulary(new long[] {id("item", "often")});
    FeatureTransform transform = FeatureTransform.of(features,
        new FeatureStatistics(Map.of(), Map.of(), Map.of("item", vocabulary)));
    assertThat(apply(transform, "often", "rare").ids()).containsExactly(id("item", "often"), hash("item", 2));
    assertThat(apply(transform, "", "often").ids()).containsExactly(hash("item", 1), id("item", "often"));
    assertThat(FeatureStatistics.Needs.of(features).minCounts()).containsExactly(Map.entry("item", 3L));
    assertThatThrownBy(() -> FeatureTransform.of(features, FeatureStatistics.NONE)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("no vocabulary of the feature a");
  }

  @Test
  void numbers_are_clipped_transformed_and_scaled() {
    NumberFeature clipped = new NumberFeature("n", "n", Missing.NONE, Double.NaN, -1, 8, Transform.POWER, 2, Scale.MIN_MAX);
    FeatureTransform transform = FeatureTransform.of(List.of(clipped), numbers("n", 0, 1, -4, 64));
    assertThat(apply(transform, "100").dense()).containsExactly(1f); // 8² = 64
    assertThat(apply(transform, -5L).dense()).containsExactly(3 / 68f); // −1² = −1, and −1 − −4 = 3
    assertThat(apply(transform, "2").dense()).containsExactly(8 / 68f);
    FeatureTransform scored = FeatureTransform.of(List.of(number(Missing.OWN, Double.NaN, Transform.NONE, 1, Scale.STANDARD)),
        numbers("n", 10, 4, 0, 0));
    assertThat(apply(scored, 12.0).dense()).containsExactly(0.5f, 0f);
    assertThat(apply(scored, "").dense()).containsExactly(0f, 1f);
    FeatureTransform log = of(number(Missing.REFUSE, Double.NaN, Transform.LOG, 1, Scale.NONE));
    assertThat(apply(log, "-3").dense()).containsExactly((float) -Math.log(4));
    assertThat(apply(log, "-0").dense()).containsExactly(0f);
    assertThat(apply(log, "").bad()).isEqualTo(new BadValue("n", "a value", ""));
  }

  @Test
  void a_missing_number_is_filled_as_others_are_transformed() {
    FeatureTransform filled = FeatureTransform.of(List.of(number(Missing.NONE, 6, Transform.NONE, 1, Scale.STANDARD)),
        numbers("n", 10, 4, 0, 0));
    assertThat(apply(filled, "").dense()).containsExactly(-1f);
    FeatureTransform constant = FeatureTransform.of(List.of(number(Missing.OWN, 6, Transform.NONE, 1, Scale.STANDARD)),
        numbers("n", 10, 0, 0, 0));
    assertThat(apply(constant, "3").dense()).containsExactly(0f, 0f);
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "1,5", "NaN", "1e39"})
  void text_that_is_no_float_makes_the_row_bad(String text) {
    BadValue bad = apply(of(number(Missing.OWN, 0, Transform.NONE, 1, Scale.NONE)), text).bad();
    assertThat(bad.column()).isEqualTo("n");
    assertThat(bad.expected()).startsWith("a number");
  }

  @Test
  void a_bucket_is_the_number_of_bounds_up_to_the_value() {
    FeatureTransform transform = of(new BucketFeature("b", "b", Missing.OWN, "b", List.of(0.0, 1.5, 10.0), 0));
    Map<String, String> buckets = new LinkedHashMap<>(Map.of("-1", "0", "-0", "1", "0", "1", "1.4", "1", "1.5", "2", "9", "2",
        "10", "3", "1e99", "3"));
    buckets.forEach((text, bucket) -> assertThat(apply(transform, text).ids()).as(text).containsExactly(id("b", bucket)));
    assertThat(apply(transform, "").ids()).containsExactly(hash("b", 1));
    assertThat(apply(transform, "x").bad()).isEqualTo(new BadValue("b", "a number", "x"));
    BucketFeature quantiles = new BucketFeature("q", "q", Missing.OWN, "q", List.of(), 3);
    FeatureTransform counted = FeatureTransform.of(List.of(quantiles),
        new FeatureStatistics(Map.of(), Map.of("q", List.of(5.0)), Map.of()));
    assertThat(apply(counted, 5L).ids()).containsExactly(id("q", "1"));
  }

  @Test
  void several_ids_are_cut_at_the_separator_and_weighted() {
    FeatureTransform sum = of(new IdsFeature("t", "t", Missing.OWN, "||", ":", 3, Pooling.SUM, IdCoding.of("t")));
    assertThat(sum.valued()).isTrue();
    Result result = apply(sum, "a:0.5|||| b ||c:x:-2||d");
    assertThat(result.ids()).containsExactly(id("t", "a"), id("t", "b"), id("t", "c:x"));
    assertThat(result.values()).containsExactly(0.5f, 1f, -2f);
    assertThat(apply(sum, "a:x").bad()).isEqualTo(new BadValue("t", "a weight after ':'", "a:x"));
    FeatureTransform mean = of(new IdsFeature("t", "t", Missing.OWN, "|", ":", 4, Pooling.MEAN, IdCoding.of("t")));
    assertThat(apply(mean, "a:1|b:3").values()).containsExactly(0.25f, 0.75f, 0f, 0f);
    assertThat(apply(mean, "a:1|b:-1").values()).containsExactly(0f, 0f, 0f, 0f);
    Result missing = apply(mean, "|");
    assertThat(missing.ids()).containsExactly(hash("t", 1), NONE, NONE, NONE);
    assertThat(missing.values()).containsExactly(1f, 0f, 0f, 0f);
  }

  @Test
  void a_list_column_has_the_ids_of_its_texts_and_sums_have_no_factors() {
    FeatureTransform transform = of(new IdsFeature("t", "t", Missing.NONE, "|", "", 2, Pooling.SUM, IdCoding.of("t")));
    assertThat(transform.valued()).isFalse();
    assertThat(apply(transform, List.of("a|b", "", "c", "d")).ids()).containsExactly(id("t", "a|b"), id("t", "c"));
    assertThat(apply(transform, List.of()).ids()).containsExactly(NONE, NONE);
    assertThat(apply(transform, 5L).ids()).containsExactly(id("t", "5"), NONE);
  }

  @Test
  void a_sequence_keeps_its_order_and_one_end() {
    SequenceFeature last = new SequenceFeature("s", "s", Missing.OWN, " ", 2, Keep.LAST, IdCoding.of("item"));
    SequenceFeature first = new SequenceFeature("s", "s", Missing.OWN, " ", 2, Keep.FIRST, IdCoding.of("item"));
    assertThat(apply(of(last), "a b  c").ids()).containsExactly(id("item", "b"), id("item", "c"));
    assertThat(apply(of(first), "a b  c").ids()).containsExactly(id("item", "a"), id("item", "b"));
    Result shorter = apply(of(last), "a");
    assertThat(shorter.ids()).containsExactly(id("item", "a"), NONE);
    assertThat(shorter.values()).containsExactly(1f, 0f);
    assertThat(apply(of(last), "a a").values()).containsExactly(0.5f, 0.5f);
    assertThat(of(last).fields()).containsExactly(
        new FeatureField("s", FeatureField.Kind.SEQUENCE, 0, 2, hash("item", 1)));
  }

  @Test
  void a_cross_mixes_the_ids_in_order() {
    CrossFeature cross = new CrossFeature("axb", "axb", List.of("a", "b"));
    CrossFeature nested = new CrossFeature("all", "all", List.of("axb", "b"));
    FeatureTransform transform = of(nested, cross, idFeature("a", Missing.OWN), idFeature("b", Missing.NONE));
    long a = id("a", "x");
    long b = id("b", "y");
    long ab = mixed("axb", a, b);
    assertThat(transform.columns()).containsExactly("a", "b");
    assertThat(apply(transform, "x", "y").ids()).containsExactly(mixed("all", ab, b), ab, a, b);
    assertThat(apply(transform, "x", "").ids()).containsExactly(NONE, NONE, a, NONE);
    assertThat(mixed("axb", b, a)).isNotEqualTo(ab);
  }

  private static long mixed(String namespace, long... ids) {
    return LongStream.of(ids).reduce(hash(namespace, 0), (h, id) -> Mix64.mix((h + Mix64.GOLDEN) ^ id));
  }

  @Test
  void text_has_the_ids_of_its_words_and_of_runs_of_words() {
    FeatureTransform transform = of(new TextFeature("t", "t", Missing.OWN, 2, 6, Pooling.SUM, IdCoding.of("t")));
    List<Long> ids = new ArrayList<>();
    for (String run : List.of("the", "größe", "7", "the größe", "größe 7")) {
      ids.add(id("t", run));
    }
    ids.add(NONE);
    assertThat(apply(transform, "The GRÖßE, (7)!").ids()).containsExactly(ids.toArray(new Long[0]));
    assertThat(apply(transform, "?!").ids()).startsWith(hash("t", 1), NONE);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "EPOCH_S|1700000000|23|2|14|11", "EPOCH_MS|1700000000999|23|2|14|11", "EPOCH_S|-1|0|4|1|1",
      "ISO|2023-11-14T22:13:20|22|2|14|11", "ISO|2023-11-14T22:13:20Z|23|2|14|11", "ISO|2023-11-14|0|2|14|11",
      "ISO|2023-11-14T23:59:59.5-08:00|8|3|15|11", "PATTERN|14.11.23 22:13|22|2|14|11"})
  void a_time_has_an_id_for_each_part(Format format, String text, String hour, String weekday, String day, String month) {
    ZoneId zone = ZoneId.of("+01:00");
    TimeFeature feature = new TimeFeature("w", "w", Missing.OWN, format, "dd.MM.yy HH:mm", zone,
        List.of(Part.HOUR, Part.WEEKDAY, Part.DAY, Part.MONTH), null);
    assertThat(apply(of(feature), text).ids()).containsExactly(id("w.hour", hour), id("w.weekday", weekday),
        id("w.day", day), id("w.month", month));
    assertThat(apply(of(feature), "").ids()).containsExactly(hash("w.hour", 1), hash("w.weekday", 1), hash("w.day", 1),
        hash("w.month", 1));
    assertThat(apply(of(feature), "soon").bad().column()).isEqualTo("w");
  }

  @ParameterizedTest
  @CsvSource(delimiter = ';', value = {"3; 0; ; false; the minimum count, 1 and 3", "1; 9; ; false; the hash buckets, 0 and 9",
      "1; 0; a; false; the vocabulary, of 0 and 1 values", "1; 0; ; true; whole, false and true"})
  void features_of_a_table_that_make_other_ids_of_equal_values_are_refused(long minCount, long buckets, String known, boolean whole,
      String message) {
    IdCoding other = new IdCoding("item", minCount, buckets, known == null ? List.of() : List.of(known), whole);
    assertThatThrownBy(() -> of(new IdFeature("a", "a", Missing.OWN, IdCoding.of("item")), new IdFeature("b", "b", Missing.OWN, other)))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("the features a and b share the table item, but differ in " + message);
  }

  @Test
  void an_age_is_a_standard_score_of_days() {
    TimeFeature feature = new TimeFeature("w", "w", Missing.OWN, Format.ISO, "", ZoneId.of("UTC"), List.of(Part.AGE_DAYS),
        LocalDate.of(2024, 1, 1));
    FeatureTransform transform = FeatureTransform.of(List.of(feature), numbers("w.age_days", 1, 2, 0, 0));
    assertThat(apply(transform, "2024-01-03T12:00:00").dense()).containsExactly(0.75f, 0f);
    assertThat(apply(transform, "").dense()).containsExactly(0f, 1f);
    assertThat(FeatureStatistics.Needs.of(List.of(feature)).numbers()).containsExactly("w.age_days");
  }

  @Test
  void fields_follow_each_other_and_factors_are_1_elsewhere() {
    FeatureTransform transform = of(number(Missing.OWN, 0, Transform.NONE, 1, Scale.NONE), idFeature("c", Missing.NONE),
        new IdsFeature("t", "t", Missing.NONE, "|", "", 2, Pooling.MEAN, IdCoding.of("t")),
        new NumberFeature("m", "n", Missing.NONE, 3, -ANY, ANY, Transform.NONE, 1, Scale.NONE));
    assertThat(transform.dense()).isEqualTo(3);
    assertThat(transform.widths()).containsExactly(1, 2);
    assertThat(transform.columns()).containsExactly("n", "c", "t");
    Result result = apply(transform, "2", "x", "a|b");
    assertThat(result.dense()).containsExactly(2f, 0f, 2f);
    assertThat(result.values()).containsExactly(1f, 0.5f, 0.5f);
    assertThat(apply(transform, "2", "", "a").values()).containsExactly(0f, 1f, 0f);
  }

  @Test
  void declarations_that_contradict_each_other_are_refused() {
    refused("two features have the name c", idFeature("c", Missing.OWN), idFeature("c", Missing.OWN));
    refused("crosses z, which is no feature", idFeature("a", Missing.OWN), new CrossFeature("x", "x", List.of("a", "z")));
    refused("in a circle", new CrossFeature("x", "x", List.of("y", "y")), new CrossFeature("y", "y", List.of("x", "x")));
    refused("has not one id", number(Missing.OWN, 0, Transform.NONE, 1, Scale.NONE), new CrossFeature("x", "x", List.of("n", "n")));
    refused("share the table t", new IdFeature("a", "a", Missing.OWN, new IdCoding("t", 2, 0, List.of(), false)),
        new IdFeature("b", "b", Missing.OWN, IdCoding.of("t")));
    assertThatThrownBy(() -> idFeature("a=b", Missing.OWN)).isInstanceOf(InvalidInput.class).hasMessageContaining("'a=b'");
    assertThatThrownBy(() -> IdCoding.of("a\nb")).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> new CrossFeature("x", "x", List.of("a"))).isInstanceOf(InvalidInput.class);
  }

  private static void refused(String text, Feature... features) {
    assertThatThrownBy(() -> of(features)).isInstanceOf(InvalidInput.class).hasMessageContaining(text);
  }

  @Test
  void the_digest_differs_with_declarations_their_order_and_statistics() {
    Feature a = idFeature("a", Missing.OWN);
    Feature b = idFeature("b", Missing.OWN);
    assertThat(of(a, b).digest()).isEqualTo(of(a, b).digest()).isNotEqualTo(of(b, a).digest())
        .isNotEqualTo(of(a, idFeature("b", Missing.NONE)).digest());
    List<Feature> scored = List.of(number(Missing.OWN, 0, Transform.NONE, 1, Scale.STANDARD));
    assertThat(FeatureTransform.of(scored, numbers("n", 1, 2, 3, 4)).digest())
        .isNotEqualTo(FeatureTransform.of(scored, numbers("n", 1, 2, 3, 5)).digest());
  }

  @Test
  void observed_values_are_those_of_the_transformation() {
    List<String> seen = new ArrayList<>();
    FeatureObserver observer = new FeatureObserver() {
      @Override
      public void number(String field, double value) {
        seen.add(field + " " + value);
      }

      @Override
      public void bucketed(String feature, double value) {
        seen.add(feature + " " + value);
      }

      @Override
      public void value(String namespace, byte[] text, int from, int to, long id) {
        String value = new String(text, from, to - from, StandardCharsets.UTF_8);
        assertThat(id).isEqualTo(id(namespace, value));
        seen.add(namespace + " " + value);
      }
    };
    FeatureTransform transform = FeatureTransform.withoutStatistics(List.of(
        new NumberFeature("n", "n", Missing.OWN, 0, 0, 3, Transform.POWER, 2, Scale.STANDARD),
        new BucketFeature("b", "n", Missing.OWN, "b", List.of(), 4), idFeature("c", Missing.OWN),
        new IdsFeature("t", "t", Missing.OWN, "|", "", 2, Pooling.SUM, new IdCoding("item", 2, 0, List.of(), false))));
    InputRow row = new InputRow(3);
    set(row, 0, "5");
    set(row, 1, "ignored");
    set(row, 2, "x|y|z");
    transform.observe(new InputRow[] {row}, 1, observer);
    row.clear();
    transform.observe(new InputRow[] {row}, 1, observer);
    assertThat(seen).containsExactly("n 9.0", "b 5.0", "item x", "item y");
  }
}
