/** The rights and owners of files, and the names by which they may be opened. */
package io.regatta.protocol.file;
