/** Data that are made where there are none, of which the best possible result is known. */
package io.regatta.data.generate;
