/**
 * What a {@code main} needs before and after everything else: logging, words for bad arguments, waiting on its thread,
 * an ordered end by signal.
 */
package io.regatta.node.process;
