package io.regatta.core.feature;

/**
 * The reason why a row is bad. Immutable.
 *
 * @param expected for example {@code a number}
 * @param found the text of the value
 */
public record BadValue(String column, String expected, String found) {}
