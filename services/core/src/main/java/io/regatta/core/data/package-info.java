/** Which rank reads which examples. */
package io.regatta.core.data;
