package io.regatta.fleet.role;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The number of machines of a job: a number, written {@code N}, or a range, written {@code N:M}. Immutable.
 *
 * @param least machines with which it trains, from 1
 * @param most machines that it takes
 */
public record MachineRange(int least, int most) {

  /** One machine. */
  public static final MachineRange ONE = new MachineRange(1, 1);
  /** The accepted forms, for messages. */
  public static final String WANTED = "a number of machines, or a range like 2:4";

  private static final Pattern FORM = Pattern.compile("(\\d{1,5})(?::(\\d{1,5}))?");

  /** Returns the range; empty if the text has neither form, or nothing lies in the range. */
  public static Optional<MachineRange> parse(String text) {
    Matcher form = FORM.matcher(text.strip());
    if (!form.matches()) {
      return Optional.empty();
    }
    int least = Integer.parseInt(form.group(1));
    int most = form.group(2) == null ? least : Integer.parseInt(form.group(2));
    return least < 1 || most < least ? Optional.empty() : Optional.of(new MachineRange(least, most));
  }

  /** Returns true if machines may join and leave. */
  public boolean isOpen() {
    return least < most;
  }

  @Override
  public String toString() {
    return isOpen() ? least + ":" + most : Integer.toString(least);
  }
}
