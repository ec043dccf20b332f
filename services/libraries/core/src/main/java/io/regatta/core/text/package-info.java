/**
 * Numbers in bytes of text. Declared features call it.
 */
package io.regatta.core.text;
