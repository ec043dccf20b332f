/** Images, in idx files and in directories. The image programs read their examples with it. */
package io.regatta.data.image;
