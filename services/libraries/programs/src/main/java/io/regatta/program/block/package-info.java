/**
 * The networks of the built-in programs, as blocks of DJL. The programs call them, and a user's own program may.
 */
package io.regatta.program.block;
