/**
 * Files that are written whole or not at all, and directories that no name leads out of. Snapshots, stores and saved
 * models call it.
 */
package io.regatta.core.file;
