package io.regatta.core.feature;

import io.regatta.core.error.RegattaException.InvalidInput;

/** A check of names. Stateless. */
final class Names {

  private Names() {}

  static void check(String what, String name) {
    if (name.isBlank() || name.indexOf('=') >= 0 || name.chars().anyMatch(Character::isISOControl)) {
      throw new InvalidInput(what + " '" + name + "' is no name: it must not be blank, and must hold neither '=' nor control "
          + "characters");
    }
  }

  static void max(String feature, int max) {
    if (max < 1) {
      throw new InvalidInput("the feature " + feature + " holds " + max + " ids at most: it must be 1 or more");
    }
  }

  static void finite(String feature, String what, double value) {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      throw new InvalidInput("the feature " + feature + " has the " + what + " " + value + ": give a finite number");
    }
  }
}
