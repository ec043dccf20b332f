/** Images, in idx files and in directories. The image programs read their examples with it. Part of the public API. */
package io.regatta.data.image;
