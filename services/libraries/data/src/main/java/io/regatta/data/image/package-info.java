/** Images, in idx files and in directories. */
package io.regatta.data.image;
