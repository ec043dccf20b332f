/** How an example is written: lines of several formats, and columns by their names. */
package io.regatta.data.format;
