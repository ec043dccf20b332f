/** The rights and owners of files, and files with secrets. */
package io.regatta.protocol.file;
