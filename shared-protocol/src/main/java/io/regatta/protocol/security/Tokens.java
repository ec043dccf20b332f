package io.regatta.protocol.security;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The tokens that a process takes, in their order; it shows the first that has not expired. Either a single token, or a
 * list of lines {@code NAME TOKEN [roles=member,monitor,predict] [expires=2026-12-31T00:00:00Z]}. Immutable.
 */
public final class Tokens {
  /** No tokens: calls need none. */
  public static final Tokens NONE = new Tokens(List.of());

  private static final int MAX = 64;
  private static final int MAX_CHARS = 512 << 10;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  private final List<Entry> entries;

  /**
   * One token.
   *
   * @param name for messages; empty: the only one
   * @param expiresMillis end of its time, ms since the epoch
   */
  record Entry(String name, Token token, Set<TokenRole> roles, long expiresMillis) {

    boolean allows(String path) {
      return roles.stream().anyMatch(role -> role.allows(path));
    }

    boolean isExpired(long nowMillis) {
      return nowMillis >= expiresMillis;
    }
  }

  private Tokens(List<Entry> entries) {
    this.entries = entries;
  }

  /** Returns a single token for everything, which does not expire; or none. */
  public static Tokens of(Token token) {
    return token.isNone() ? NONE
        : new Tokens(List.of(new Entry("", token, EnumSet.of(TokenRole.MEMBER), Long.MAX_VALUE)));
  }

  /**
   * Reads what a file holds.
   *
   * @param from the file, for messages, which name lines and never what is in them
   * @throws InvalidInput one line that says what is wrong where
   */
  public static Tokens parse(String text, String from) {
    if (text.length() > MAX_CHARS) {
      throw new InvalidInput(from + " has more than " + MAX_CHARS + " characters: give " + MAX + " tokens at most");
    }
    String whole = text.strip();
    if (!whole.isEmpty() && whole.chars().noneMatch(Character::isWhitespace)) {
      return of(Token.of(whole, from));
    }
    List<Entry> entries = new ArrayList<>();
    String[] lines = text.split("\\R");
    for (int i = 0; i < lines.length; i++) {
      String line = lines[i].strip();
      if (!line.isEmpty() && !line.startsWith("#")) {
        entries.add(entry(line.split("\\s+"), from + ", line " + (i + 1)));
      }
    }
    if (entries.isEmpty() || entries.size() > MAX) {
      throw new InvalidInput(from + " holds " + (entries.isEmpty() ? "no token" : entries.size()
          + " tokens, and at most " + MAX
          + " are taken") + ": give a token alone, or lines of NAME TOKEN");
    }
    for (Entry entry : entries) {
      if (entries.stream().filter(e -> e.name.equals(entry.name) || e.token.equals(entry.token)).count() > 1) {
        throw new InvalidInput(from + ": the name or the token of " + entry.name
            + " stands there twice: give each line its own");
      }
    }
    return new Tokens(List.copyOf(entries));
  }

  private static Entry entry(String[] words, String where) {
    if (words.length < 2 || !NAME.matcher(words[0]).matches()) {
      throw new InvalidInput(where + ": expected NAME TOKEN [roles=ROLE,...] [expires=DATE], where the name has "
          + "letters, digits, . _ and -");
    }
    Set<TokenRole> roles = EnumSet.noneOf(TokenRole.class);
    long expires = Long.MAX_VALUE;
    for (int i = 2; i < words.length; i++) {
      if (words[i].startsWith("roles=")) {
        for (String role : words[i].substring("roles=".length()).split(",")) {
          roles.add(role(role, where));
        }
      } else if (words[i].startsWith("expires=")) {
        expires = time(words[i].substring("expires=".length()), where);
      } else {
        throw new InvalidInput(where + ": expected roles=ROLE,... or expires=DATE after the token");
      }
    }
    return new Entry(words[0], Token.of(words[1], where), roles.isEmpty() ? EnumSet.of(TokenRole.MEMBER) : roles,
        expires);
  }

  private static TokenRole role(String text, String where) {
    try {
      return TokenRole.valueOf(text.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new InvalidInput(where + ": a role is member, monitor or predict");
    }
  }

  private static long time(String text, String where) {
    try {
      return (text.contains("T") ? Instant.parse(text) : LocalDate.parse(text).atStartOfDay().toInstant(ZoneOffset.UTC))
          .toEpochMilli();
    } catch (DateTimeException e) {
      throw new InvalidInput(where + ": expires= takes a date (2026-12-31, from its first second in UTC on) or a time "
          + "(2026-12-31T12:00:00Z)");
    }
  }

  public boolean isNone() {
    return entries.isEmpty();
  }

  /** Returns the token that this process shows: the first that has not expired, or the last one if all have. */
  Token shown(long nowMillis) {
    return entries.stream().filter(entry -> !entry.isExpired(nowMillis)).findFirst().map(Entry::token)
        .orElseGet(() -> isNone() ? Token.NONE : entries.get(entries.size() - 1).token);
  }

  /** Returns the token that a header shows. */
  Optional<Entry> shownBy(String header) {
    return entries.stream().filter(entry -> entry.token.isShownBy(header)).findFirst();
  }

  /** Returns the token of this id. */
  Optional<Entry> ofId(String id) {
    return entries.stream().filter(entry -> entry.token.id().equals(id)).findFirst();
  }

  /** Returns the token of this id, if it is one of members and has not expired. */
  public Optional<Token> memberOfId(String id, long nowMillis) {
    return ofId(id).filter(entry -> entry.roles.contains(TokenRole.MEMBER) && !entry.isExpired(nowMillis))
        .map(Entry::token);
  }

  /** Returns all tokens, in the order of the file. */
  List<Token> all() {
    return entries.stream().map(Entry::token).toList();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Tokens tokens && entries.equals(tokens.entries);
  }

  @Override
  public int hashCode() {
    return entries.size();
  }

  @Override
  public String toString() {
    return isNone() ? "no token" : entries.size() == 1 && entries.get(0).name.isEmpty() ? "a token"
        : (entries.size() == 1 ? "the token " : "the tokens ") + entries.stream().map(entry -> entry.name
        + (entry.expiresMillis == Long.MAX_VALUE ? "" : " (until " + Instant.ofEpochMilli(entry.expiresMillis) + ")"))
        .collect(Collectors.joining(", "));
  }
}
