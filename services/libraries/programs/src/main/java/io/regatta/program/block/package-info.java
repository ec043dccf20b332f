/**
 * The networks of the built-in programs, as DJL blocks. The programs use them, and a user's own program may.
 * Part of the public API.
 */
package io.regatta.program.block;
