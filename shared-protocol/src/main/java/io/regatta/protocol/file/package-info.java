/** The rights and owners of files, and files with secrets. Readers of tokens and keys call it. */
package io.regatta.protocol.file;
