//! The few shapes that the charts are made of. Colours follow the reader's light or dark setting.

use std::fmt::Write as _;

const STYLE: &str = "\
text{font-family:system-ui,sans-serif;fill:#444}
.title{font-size:15px;font-weight:600}.heading{font-size:13px;font-weight:600}.label{font-size:12px}.value{font-size:11px}
.ours{fill:#2f6fdf}.bare{fill:#a8adb5}
polyline{fill:none;stroke-width:2}.dashed{stroke-dasharray:5 4;opacity:.7}.grid{stroke:#888;stroke-width:.5;opacity:.5}
polyline.one{stroke:#2f6fdf}polyline.two{stroke:#b3541e}polyline.three{stroke:#1a7f4b}
circle.one,.one-text{fill:#2f6fdf}circle.two,.two-text{fill:#b3541e}circle.three,.three-text{fill:#1a7f4b}
@media (prefers-color-scheme:dark){
text{fill:#c9d1d9}.ours{fill:#6aa5ff}.bare{fill:#6e7681}
polyline.one{stroke:#6aa5ff}polyline.two{stroke:#ffa45c}polyline.three{stroke:#58c98b}
circle.one,.one-text{fill:#6aa5ff}circle.two,.two-text{fill:#ffa45c}circle.three,.three-text{fill:#58c98b}
}";

#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing while it is written.
pub(super) struct Svg {
    text: String,
}

impl Svg {
    pub(super) fn new(width: f64, height: f64) -> Svg {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\">\n<style>\n{STYLE}\n</style>\n"
        );
        Svg { text }
    }

    /// The heading, which programs that read aloud say, too.
    pub(super) fn title(&mut self, text: &str) {
        self.push(&format!("<title>{}</title>\n", escaped(text)));
        self.text(20.0, 24.0, Anchor::Start, "title", text);
    }

    pub(super) fn text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.push(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>\n"
        ));
    }

    pub(super) fn bar(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str) {
        self.push(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2\" class=\"{class}\"/>\n"
        ));
    }

    pub(super) fn line(&mut self, points: &[(f64, f64)], class: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.push(&format!("<polyline points=\"{}\" class=\"{class}\"/>\n", points.join(" ")));
    }

    pub(super) fn dot(&mut self, x: f64, y: f64, class: &str) {
        self.push(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" class=\"{class}\"/>\n"));
    }

    pub(super) fn end(mut self) -> String {
        self.push("</svg>\n");
        self.text
    }

    fn push(&mut self, text: &str) {
        // Writing to a `String` cannot fail.
        let _ = self.text.write_str(text);
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
