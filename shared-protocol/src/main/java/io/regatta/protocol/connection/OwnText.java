package io.regatta.protocol.connection;

/**
 * Sentence of this process in a line of a {@link PeerLog}, such as the remedy of a refusal. What it quotes from outside
 * has been cut before, so the line shows it whole; it is still escaped. Immutable.
 *
 * @param text the sentence
 */
public record OwnText(String text) {}
