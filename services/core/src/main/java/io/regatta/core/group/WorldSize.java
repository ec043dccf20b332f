package io.regatta.core.group;

/**
 * How many members a group has, the same for all of them, and what becomes of it when one goes. A group of a fixed size forms
 * once, when all have come; who takes the rank of a lost member comes into the group as it is. An elastic group forms one
 * generation after another, each of no more than the maximum and no fewer than the minimum; its members end a generation when
 * one of them leaves or is lost, or when another one has come. Immutable.
 *
 * @param min fewest members of a generation, at least 1
 * @param max most members of a generation, and ranks that can be asked for
 * @param elastic false: the size is fixed, and {@code min} is {@code max}
 */
public record WorldSize(int min, int max, boolean elastic) {

  public WorldSize {
    if (min < 1 || max < min || !elastic && min < max) {
      throw new IllegalArgumentException("a group of " + min + " to " + max + " members, " + (elastic ? "elastic" : "fixed"));
    }
  }

  /** Returns a fixed size. */
  public static WorldSize fixed(int members) {
    return new WorldSize(members, members, false);
  }

  /** Returns the bounds of an elastic group, which may be equal: then its members wait for another one in a lost one's place. */
  public static WorldSize elastic(int min, int max) {
    return new WorldSize(min, max, true);
  }

  /** Returns the size for messages: {@code 4}, or {@code 2 to 4 (elastic)}. */
  @Override
  public String toString() {
    return elastic ? min + " to " + max + " (elastic)" : Integer.toString(max);
  }
}
