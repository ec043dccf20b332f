/** Files where they lie: found, dealt out, unpacked, sent through a command, cut into lines. */
package io.regatta.data.file;
