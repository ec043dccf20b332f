/**
 * The lines that commands print, and the exit statuses with which they end. Commands call it; nothing in it starts anything.
 */
package io.regatta.fleet.command.output;
