package io.regatta.trainer.data;

import java.nio.file.Path;

/**
 * A line of text not yet parsed. Owned by whoever holds it; the bytes are not changed.
 *
 * @param file where it is from
 * @param number from 1
 * @param bytes without the line end
 */
public record Line(Path file, long number, byte[] bytes) {}
