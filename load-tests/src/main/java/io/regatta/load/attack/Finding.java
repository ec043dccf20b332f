package io.regatta.load.attack;

/**
 * The outcome of one attempt at one target. Immutable.
 *
 * @param attempt what the attacker did
 * @param target where
 * @param answer that it got
 * @param presence what the answer says of the port itself: that it is there, and which protocol it speaks
 * @param learnt what the attacker should not know; empty: nothing
 * @param changed what the attacker should not change; empty: nothing
 */
record Finding(String attempt, String target, String answer, String presence, String learnt, String changed) {

  /** Returns an answer that reveals no more than that the port is there. */
  static Finding presence(String attempt, Object target, String answer, String presence) {
    return new Finding(attempt, target.toString(), answer, presence, "", "");
  }

  boolean isHarmless() {
    return learnt.isEmpty() && changed.isEmpty();
  }
}
