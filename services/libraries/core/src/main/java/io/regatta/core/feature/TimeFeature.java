package io.regatta.core.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;

/**
 * A column of times, as one field for each part. The local hour depends on the time zone data of the Java release.
 * Immutable.
 *
 * @param pattern of {@link Format#PATTERN}, for {@link DateTimeFormatter#ofPattern(String)}
 * @param zone of the parts, and of times that name none
 * @param since day from whose beginning {@link Part#AGE_DAYS} counts
 */
public record TimeFeature(String name, String column, Missing missing, Format format, String pattern, ZoneId zone,
    List<Part> parts, LocalDate since) implements Feature {

  /** The form of the values. */
  public enum Format {
    /** Seconds since 1970. */
    EPOCH_S,
    /** Milliseconds since 1970. */
    EPOCH_MS,
    /** ISO 8601: a date, or a date and a time, with or without an offset. */
    ISO,
    /** The pattern of the feature. */
    PATTERN
  }

  /** A part of a time. */
  public enum Part {
    /** An id: 0 to 23. */
    HOUR,
    /** An id: 1 (Monday) to 7. */
    WEEKDAY,
    /** An id: 1 to 31. */
    DAY,
    /** An id: 1 to 12. */
    MONTH,
    /** A number: days since a day, as a standard score. */
    AGE_DAYS;

    /** Returns the name of this part's field of a feature. */
    public String field(String feature) {
      return feature + "." + name().toLowerCase(Locale.ROOT);
    }
  }

  public TimeFeature {
    parts = List.copyOf(parts);
    Names.check("the feature", name);
    if (parts.isEmpty() || EnumSet.copyOf(parts).size() < parts.size()) {
      throw new InvalidInput("the feature " + name + " has the parts " + parts + ": give at least one, and each once");
    }
    if (format == Format.PATTERN) {
      try {
        DateTimeFormatter.ofPattern(pattern, Locale.ROOT);
      } catch (IllegalArgumentException e) {
        throw new InvalidInput("the feature " + name + " has the pattern '" + pattern + "': " + e.getMessage(), e);
      }
    }
    if (parts.contains(Part.AGE_DAYS)) {
      try {
        since.atStartOfDay(zone).toInstant();
      } catch (DateTimeException | NullPointerException e) {
        throw new InvalidInput("the feature " + name + " counts days since " + since + ": give a date", e);
      }
    }
  }

  @Override
  public List<String> columns() {
    return List.of(column);
  }
}
