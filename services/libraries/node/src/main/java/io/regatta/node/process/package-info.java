/**
 * Services of a {@code main} before and after its work: logging, messages for bad arguments, waiting on its thread, an
 * ordered end by signal. Used by the mains of services and commands.
 */
package io.regatta.node.process;
