package io.regatta.core.feature;

import io.regatta.core.feature.Feature.Missing;
import io.regatta.core.hash.Mix64;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.core.text.Decimal;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalQueries;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** The computation of the fields of one feature. Immutable once it is bound; any thread. */
abstract class FeatureStep {

  static final BadValue GOOD = null;

  private final List<FeatureField> fields;

  FeatureStep(List<FeatureField> fields) {
    this.fields = fields;
  }

  /** An example that is filled, in arrays that hold others, too. */
  record Example(float[] dense, int denseAt, long[] ids, float[] values, int idsAt) {

    void put(int position, float value) {
      dense[denseAt + position] = value;
    }

    void put(int position, long id, float factor) {
      ids[idsAt + position] = id;
      if (values != null) {
        values[idsAt + position] = factor;
      }
    }

    /** Puts an id, if it is one, into the only position of a field. */
    void put(FeatureField field, long id) {
      put(field.offset(), id, id == DistinctIds.PADDING ? 0 : 1);
    }

    long id(int position) {
      return ids[idsAt + position];
    }
  }

  final List<FeatureField> fields() {
    return fields;
  }

  final FeatureField field() {
    return fields.get(0);
  }

  /** Looks up the fields that this step reads. */
  void bind(List<FeatureField> all) {}

  abstract BadValue apply(InputRow row, Example into);

  /** Passes the values of a good row, from which statistics are computed. */
  void observe(InputRow row, FeatureObserver into) {}

  /** Puts a number, and the mark of a missing one if the field has it. */
  static BadValue putNumber(FeatureField field, String column, double value, boolean missing, Example into) {
    float number = (float) value;
    if (Float.isInfinite(number) || Float.isNaN(number)) {
      return new BadValue(column, "a number within the range of floats", Double.toString(value));
    }
    into.put(field.offset(), number + 0f); // no negative zero
    if (field.width() == 2) {
      into.put(field.offset() + 1, missing ? 1f : 0f);
    }
    return GOOD;
  }

  /** Returns the number of a column; NaN if the value is none. */
  static double number(InputRow row, int column) {
    return switch (row.type(column)) {
      case NUMBER -> Double.isInfinite(row.number(column)) ? Double.NaN : row.number(column);
      case WHOLE -> row.whole(column);
      case TEXT -> Decimal.parse(row.bytes(column), row.from(column), row.to(column));
      case MISSING, TEXTS -> Double.NaN;
    };
  }

  static boolean isMissing(InputRow row, int column) {
    return row.type(column) == InputRow.Type.MISSING;
  }

  static BadValue absent(String column) {
    return new BadValue(column, "a value", "");
  }

  /** Returns the quotient; 0 if the range is 0. */
  static double quotient(double difference, double range) {
    return range == 0 ? 0 : difference / range;
  }

  /** Returns the value of a column for messages. */
  static String shown(InputRow row, int column) {
    return switch (row.type(column)) {
      case MISSING -> "";
      case NUMBER -> Double.toString(row.number(column));
      case WHOLE -> Long.toString(row.whole(column));
      case TEXT -> new String(row.bytes(column), row.from(column), row.to(column) - row.from(column), StandardCharsets.UTF_8);
      case TEXTS -> row.texts(column).stream().map(each -> new String(each, StandardCharsets.UTF_8))
          .collect(Collectors.joining(", ", "[", "]"));
    };
  }

  /** The computation of a number. */
  static final class OfNumber extends FeatureStep {

    private final NumberFeature feature;
    private final int column;
    private final NumberStatistics statistics;

    OfNumber(FeatureField field, NumberFeature feature, int column, NumberStatistics statistics) {
      super(List.of(field));
      this.feature = feature;
      this.column = column;
      this.statistics = statistics;
    }

    @Override
    BadValue apply(InputRow row, Example into) {
      boolean missing = isMissing(row, column);
      if (missing && feature.missing() == Missing.REFUSE) {
        return absent(feature.column());
      }
      double x = missing ? feature.fill() : number(row, column);
      if (Double.isNaN(x)) {
        return missing ? putNumber(field(), feature.column(), 0, true, into)
            : new BadValue(feature.column(), "a number", shown(row, column));
      }
      return putNumber(field(), feature.column(), scaled(transformed(x)), missing, into);
    }

    @Override
    void observe(InputRow row, FeatureObserver into) {
      if (feature.scale() != NumberFeature.Scale.NONE && !isMissing(row, column)) {
        into.number(feature.name(), transformed(number(row, column)));
      }
    }

    private double transformed(double x) {
      double clipped = Math.max(feature.low(), Math.min(feature.high(), x));
      double size = Math.abs(clipped);
      return switch (feature.transform()) {
        case NONE -> clipped;
        case LOG -> Math.copySign(StrictMath.log1p(size), clipped);
        case POWER -> Math.copySign(StrictMath.pow(size, feature.power()), clipped);
      };
    }

    private double scaled(double y) {
      return switch (feature.scale()) {
        case NONE -> y;
        case STANDARD -> quotient(y - statistics.mean(), statistics.deviation());
        case MIN_MAX -> quotient(y - statistics.min(), statistics.max() - statistics.min());
      };
    }
  }

  /** The computation of a bucket. */
  static final class OfBucket extends FeatureStep {

    private final BucketFeature feature;
    private final int column;
    private final double[] bounds;
    private final long[] ids;

    OfBucket(FeatureField field, BucketFeature feature, int column, IdNamespace namespace, List<Double> bounds) {
      super(List.of(field));
      this.feature = feature;
      this.column = column;
      this.bounds = bounds.stream().mapToDouble(Double::doubleValue).toArray();
      this.ids = LongStream.rangeClosed(0, bounds.size()).map(namespace::number).toArray();
    }

    @Override
    BadValue apply(InputRow row, Example into) {
      if (isMissing(row, column)) {
        into.put(field(), field().missingId());
        return feature.missing() == Missing.REFUSE ? absent(feature.column()) : GOOD;
      }
      double x = number(row, column);
      if (Double.isNaN(x)) {
        return new BadValue(feature.column(), "a number", shown(row, column));
      }
      int low = 0; // all bounds before it are at most x
      for (int high = bounds.length; low < high; ) {
        int middle = low + high >>> 1;
        if (bounds[middle] <= x) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      into.put(field(), ids[low]);
      return GOOD;
    }

    @Override
    void observe(InputRow row, FeatureObserver into) {
      if (feature.quantiles() > 0 && !isMissing(row, column)) {
        into.bucketed(feature.name(), number(row, column));
      }
    }
  }

  /** The computation of a cross, after the fields that it reads. */
  static final class OfCross extends FeatureStep {

    private final CrossFeature feature;
    private final long seed;
    private int[] positions;

    OfCross(FeatureField field, CrossFeature feature, IdNamespace namespace) {
      super(List.of(field));
      this.feature = feature;
      this.seed = namespace.seed();
    }

    @Override
    void bind(List<FeatureField> all) {
      positions = feature.of().stream()
          .mapToInt(name -> all.stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow().offset()).toArray();
    }

    @Override
    BadValue apply(InputRow row, Example into) {
      long hash = seed;
      for (int position : positions) {
        long id = into.id(position);
        if (id == DistinctIds.PADDING) {
          into.put(field(), DistinctIds.PADDING);
          return GOOD;
        }
        hash = Mix64.mix(hash + Mix64.GOLDEN ^ id);
      }
      into.put(field(), IdNamespace.usable(hash));
      return GOOD;
    }
  }

  /** The computation of the parts of a time. */
  static final class OfTime extends FeatureStep {

    private static final double DAY_MILLIS = 86_400_000;
    private static final int PART_MAX = 31;
    private static final DateTimeFormatter ISO = new DateTimeFormatterBuilder().append(DateTimeFormatter.ISO_LOCAL_DATE)
        .optionalStart().appendLiteral('T').append(DateTimeFormatter.ISO_LOCAL_TIME).optionalEnd()
        .optionalStart().appendOffsetId().optionalEnd().toFormatter(Locale.ROOT);

    private final TimeFeature feature;
    private final int column;
    /** Ids of the numbers of each field. */
    private final long[][] ids;
    private final NumberStatistics age;
    private final DateTimeFormatter formatter;
    private final Instant since;

    OfTime(List<FeatureField> fields, List<IdNamespace> namespaces, TimeFeature feature, int column, NumberStatistics age) {
      super(fields);
      this.feature = feature;
      this.column = column;
      this.age = age;
      ids = namespaces.stream().map(each -> LongStream.rangeClosed(0, PART_MAX).map(each::number).toArray())
          .toArray(long[][]::new);
      formatter = feature.format() == TimeFeature.Format.PATTERN ? DateTimeFormatter.ofPattern(feature.pattern(), Locale.ROOT) : ISO;
      since = feature.parts().contains(TimeFeature.Part.AGE_DAYS) ? feature.since().atStartOfDay(feature.zone()).toInstant() : null;
    }

    @Override
    BadValue apply(InputRow row, Example into) {
      boolean missing = isMissing(row, column);
      if (missing && feature.missing() == Missing.REFUSE) {
        return absent(feature.column());
      }
      ZonedDateTime time = missing ? null : time(row);
      if (!missing && time == null) {
        return new BadValue(feature.column(), expected(), shown(row, column));
      }
      for (int i = 0; i < ids.length; i++) {
        FeatureField field = fields().get(i);
        if (feature.parts().get(i) != TimeFeature.Part.AGE_DAYS) {
          into.put(field, missing ? field.missingId() : ids[i][part(feature.parts().get(i), time)]);
          continue;
        }
        BadValue bad = putNumber(field, feature.column(), missing ? 0 : quotient(age(time) - age.mean(), age.deviation()), missing,
            into);
        if (bad != null) {
          return bad;
        }
      }
      return GOOD;
    }

    @Override
    void observe(InputRow row, FeatureObserver into) {
      if (since != null && !isMissing(row, column)) {
        into.number(TimeFeature.Part.AGE_DAYS.field(feature.name()), age(time(row)));
      }
    }

    private double age(ZonedDateTime time) {
      return (time.toInstant().toEpochMilli() - since.toEpochMilli()) / DAY_MILLIS;
    }

    private static int part(TimeFeature.Part part, ZonedDateTime time) {
      return switch (part) {
        case HOUR -> time.getHour();
        case WEEKDAY -> time.getDayOfWeek().getValue();
        case DAY -> time.getDayOfMonth();
        case MONTH -> time.getMonthValue();
        case AGE_DAYS -> throw new IllegalArgumentException("an age is no id");
      };
    }

    private String expected() {
      return switch (feature.format()) {
        case EPOCH_S -> "seconds since 1970";
        case EPOCH_MS -> "milliseconds since 1970";
        case ISO -> "a time as 2026-01-31T23:59:59";
        case PATTERN -> "a time as " + feature.pattern();
      };
    }

    /** Returns the time; null if the value is none. */
    private ZonedDateTime time(InputRow row) {
      try {
        return switch (feature.format()) {
          case EPOCH_S -> ofMillis(number(row, column) * 1000);
          case EPOCH_MS -> ofMillis(number(row, column));
          case ISO, PATTERN -> parsed(row);
        };
      } catch (DateTimeException | ArithmeticException e) {
        return null;
      }
    }

    private ZonedDateTime ofMillis(double millis) {
      return Double.isNaN(millis) || Math.abs(millis) > Long.MAX_VALUE / 2 ? null
          : Instant.ofEpochMilli((long) Math.floor(millis)).atZone(feature.zone());
    }

    private ZonedDateTime parsed(InputRow row) {
      if (row.type(column) == InputRow.Type.TEXTS) {
        return null;
      }
      TemporalAccessor parsed = formatter.parse(shown(row, column));
      if (parsed.isSupported(ChronoField.INSTANT_SECONDS)) {
        return Instant.from(parsed).atZone(feature.zone());
      }
      LocalDate date = LocalDate.from(parsed);
      LocalTime time = parsed.query(TemporalQueries.localTime());
      ZoneId zone = parsed.query(TemporalQueries.zone());
      LocalDateTime local = date.atTime(time == null ? LocalTime.MIDNIGHT : time);
      return local.atZone(zone == null ? feature.zone() : zone).withZoneSameInstant(feature.zone());
    }
  }

  /** The computation of one or several ids. */
  static final class OfIds extends FeatureStep {

    /**
     * The rules by which a column becomes several values.
     *
     * @param single true: the column is one value
     * @param ngrams longest run of words; 0: values are no words
     */
    record Rules(boolean single, int ngrams, String separator, String weightSeparator, SequenceFeature.Keep keep,
        Feature.Pooling pooling) {}

    private final String columnName;
    private final int column;
    private final Missing missing;
    private final Rules rules;
    private final byte[] separator;
    private final byte[] weightSeparator;
    private final IdNamespace namespace;

    OfIds(FeatureField field, String columnName, int column, Missing missing, Rules rules, IdNamespace namespace) {
      super(List.of(field));
      this.columnName = columnName;
      this.column = column;
      this.missing = missing;
      this.rules = rules;
      this.separator = IdNamespace.utf8(rules.separator());
      this.weightSeparator = IdNamespace.utf8(rules.weightSeparator());
      this.namespace = namespace;
    }

    @Override
    BadValue apply(InputRow row, Example into) {
      if (isPlain(row)) {
        into.put(field(), namespace.known(namespace.id(row.bytes(column), row.from(column), row.to(column))));
        return GOOD;
      }
      return each(row, into, null);
    }

    @Override
    void observe(InputRow row, FeatureObserver into) {
      if (!namespace.isCounted()) {
        return;
      }
      if (isPlain(row)) {
        into.value(namespace.name(), row.bytes(column), row.from(column), row.to(column),
            namespace.id(row.bytes(column), row.from(column), row.to(column)));
      } else {
        each(row, null, into);
      }
    }

    /** Returns true if the value is one text as it is: the case of nearly all values, which needs no parts. */
    private boolean isPlain(InputRow row) {
      return rules.single() && !namespace.isWhole() && row.type(column) == InputRow.Type.TEXT;
    }

    private Parts parts(InputRow row) {
      if (rules.single() && row.type(column) == InputRow.Type.TEXTS) {
        return null;
      }
      return rules.ngrams() > 0 ? Parts.words(row, column, rules.ngrams()) : Parts.of(row, column, separator);
    }

    /** Puts the ids of a row, or passes the values to the observer. */
    private BadValue each(InputRow row, Example into, FeatureObserver observer) {
      Parts parts = parts(row);
      if (parts == null) {
        return new BadValue(columnName, rules.single() ? "a whole number or text" : "text, whole numbers or a list",
            shown(row, column));
      }
      int width = field().width();
      int left = rules.keep() == SequenceFeature.Keep.LAST ? surplus(row, width) : 0;
      int found = 0;
      double weights = 0;
      while (found < width && parts.next()) {
        if (left-- > 0) {
          continue;
        }
        float weight = 1;
        if (weightSeparator.length > 0) {
          int cut = Parts.findLast(parts.bytes, parts.from, parts.to, weightSeparator);
          if (cut >= 0) {
            weight = (float) Decimal.parse(parts.bytes, cut + weightSeparator.length, parts.to);
            if (Float.isNaN(weight) || Float.isInfinite(weight)) {
              return new BadValue(columnName, "a weight after '" + rules.weightSeparator() + "'",
                  new String(parts.bytes, parts.from, parts.to - parts.from, StandardCharsets.UTF_8));
            }
            if (!parts.set(parts.bytes, parts.from, cut)) {
              continue;
            }
          }
        }
        if (namespace.isWhole() && !parts.normalizeWhole()) {
          return new BadValue(columnName, "a whole number",
              new String(parts.bytes, parts.from, parts.to - parts.from, StandardCharsets.UTF_8));
        }
        long id = namespace.id(parts.bytes, parts.from, parts.to);
        if (observer != null) {
          observer.value(namespace.name(), parts.bytes, parts.from, parts.to, id);
        } else {
          into.put(field().offset() + found, namespace.known(id), weight);
        }
        found++;
        weights += weight;
      }
      return observer != null ? GOOD : finish(into, found, weights);
    }

    private int surplus(InputRow row, int width) {
      int all = 0;
      for (Parts parts = parts(row); parts.next(); ) {
        all++;
      }
      return Math.max(0, all - width);
    }

    private BadValue finish(Example into, int found, double weights) {
      int first = field().offset();
      for (int i = found; i < field().width(); i++) {
        into.put(first + i, DistinctIds.PADDING, 0);
      }
      if (found == 0) {
        into.put(first, field().missingId(), field().missingId() == DistinctIds.PADDING ? 0 : 1);
        return missing == Missing.REFUSE ? absent(columnName) : GOOD;
      }
      if (into.values() != null && rules.pooling() == Feature.Pooling.MEAN) {
        for (int i = into.idsAt() + first; i < into.idsAt() + first + found; i++) {
          into.values()[i] = (float) quotient(into.values()[i], weights);
        }
      }
      return GOOD;
    }
  }
}
