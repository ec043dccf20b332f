package io.regatta.core.group;

/**
 * The size of a group, the same for all its members, and the rule for when members leave or are lost. A group of a
 * fixed size forms once, when all have joined; a newcomer takes the rank of a lost member in the same group. An elastic
 * group forms one generation after another, each with at least the minimum and at most the maximum of members. A
 * generation ends when a member leaves or is lost, or when another one has joined. Immutable.
 *
 * @param min fewest members of a generation, at least 1
 * @param max most members of a generation, and number of ranks that can be requested
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
