package org.rowankv.samples.spring;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** The library over HTTP. Thread-safe. */
@RestController
public class LibraryController {
    private final NoteService notes;
    private final BookService books;

    public LibraryController(NoteService notes, BookService books) {
        this.notes = notes;
        this.books = books;
    }

    @GetMapping("/notes/{key}")
    public ResponseEntity<Integer> note(@PathVariable("key") String key) {
        return ResponseEntity.ofNullable(notes.note(key));
    }

    @PostMapping("/notes/{key}")
    public void changeNote(@PathVariable("key") String key) {
        notes.changeNote(key);
    }

    @GetMapping("/notes/{first}/{second}")
    public ResponseEntity<Integer> pair(@PathVariable("first") String first, @PathVariable("second") String second) {
        return ResponseEntity.ofNullable(notes.pair(first, second));
    }

    @PostMapping("/authors/{author}/books/{isbn}")
    public void add(@PathVariable("author") String author, @PathVariable("isbn") String isbn) {
        books.add(author, isbn, 0);
    }

    @GetMapping("/books/{isbn}/price")
    public ResponseEntity<Integer> price(@PathVariable("isbn") String isbn) {
        return ResponseEntity.ofNullable(books.price(isbn));
    }

    @PostMapping("/books/{isbn}/price/{price}")
    public void reprice(@PathVariable("isbn") String isbn, @PathVariable("price") int price) {
        books.reprice(isbn, price);
    }
}
