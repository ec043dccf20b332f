/**
 * Data files on disk and other file systems: finding, assigning, decompressing, piping through a command, and
 * splitting into lines. The sources of {@code data} read through it. Part of the public API.
 */
package io.regatta.data.file;
